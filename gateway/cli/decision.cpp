#include "gateway/cli/decision.hpp"

#include "gateway/cli/context.hpp"
#include "gateway/cli/table.hpp"

namespace sandgate::cli {
namespace {

std::string reasons(const Json& candidate) {
  std::string text;
  for (const Json& reason : candidate.value("rejected_because", Json::array()))
    text += (text.empty() ? "" : "; ") +
            (reason.is_string() ? reason.get<std::string>() : reason.dump());
  return text.empty() ? "-" : text;
}

}  // namespace

void print_decision(const Console& console, const Json& decision) {
  Table table({"DEPLOYMENT", ">RANK", ">PRICE/HOUR", ">P50 MS", "HEALTH", "REJECTED BECAUSE"});
  for (const Json& candidate : decision.value("candidates", Json::array()))
    table.add({cell(candidate, "/deployment"), cell(candidate, "/rank"),
               cell(candidate, "/price_per_hour"), rounded_cell(candidate, "/latency_p50_ms"),
               cell(candidate, "/health/breaker"), reasons(candidate)});
  table.print(console, "No deployment is configured. `sandgate deployments set` adds one.");
  if (!console.terminal) return;
  const std::string chosen = printable(cell(decision, "/chosen"));
  console.out << "chosen: " << (chosen == "-" ? "none" : chosen) << '\n';
}

}  // namespace sandgate::cli
