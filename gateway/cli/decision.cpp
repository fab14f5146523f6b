#include "gateway/cli/decision.hpp"

#include <algorithm>

#include "gateway/cli/context.hpp"
#include "gateway/cli/terminal/table.hpp"

namespace sandgate::cli {
namespace {

std::string reasons(const Json& candidate) {
  std::string text;
  for (const Json& reason : candidate.value("rejected_because", Json::array()))
    text += (text.empty() ? "" : "; ") +
            (reason.is_string() ? reason.get<std::string>() : reason.dump());
  return text.empty() ? "-" : text;
}

bool lacks_image(const Json& candidate) {
  const Json why = candidate.value("rejected_because", Json::array());
  return std::find(why.begin(), why.end(), "image_not_mapped") != why.end();
}

Json candidates_in(const Json& document) {
  if (!document.is_object()) return Json::array();
  Json found = Json::array();
  for (const Json& candidate : document.value("candidates", Json::array()))
    if (candidate.is_object()) found.push_back(candidate);
  return found;
}

constexpr const char* kNoDeployment =
    "No deployment is configured. `sandgate deployments set` adds one.";

std::vector<std::string> row_of(const Json& candidate) {
  return {cell(candidate, "/deployment"),
          cell(candidate, "/rank"),
          cell(candidate, "/price_per_hour"),
          rounded_cell(candidate, "/latency_p50_ms"),
          health_cell(candidate),
          reasons(candidate)};
}

// What came of the attempts on a deployment, each with its number in the order of all.
std::string attempts_on(const std::string& deployment, const Json& attempts) {
  std::string text;
  size_t number = 0;
  for (const Json& attempt : attempts) {
    ++number;
    if (cell(attempt, "/deployment") != deployment) continue;
    const std::string code = cell(attempt, "/code");
    text += (text.empty() ? "" : "; ") + std::to_string(number) + ". " + cell(attempt, "/outcome") +
            (code == "-" ? "" : " (" + code + ")") + ", " + rounded_cell(attempt, "/duration_ms") +
            " ms";
  }
  return text.empty() ? "-" : text;
}

// Returns the candidates, and each deployment that was tried without being one of the last
// decision.
Json all_considered(const Json& decision, const Json& attempts) {
  Json all = candidates_in(decision);
  for (const Json& attempt : attempts) {
    const std::string name = cell(attempt, "/deployment");
    const auto is_it = [&](const Json& one) { return cell(one, "/deployment") == name; };
    if (std::none_of(all.begin(), all.end(), is_it)) all.push_back({{"deployment", name}});
  }
  return all;
}

void print_chosen(const Console& console, const Json& decision) {
  const std::string chosen = printable(cell(decision, "/chosen"));
  console.out << "chosen: " << (chosen == "-" ? "none" : chosen) << '\n';
}

}  // namespace

std::vector<std::string> refusals(const Json& problem) {
  std::vector<std::string> lines;
  const Json candidates = candidates_in(problem);
  for (const Json& candidate : candidates)
    lines.push_back(printable(cell(candidate, "/deployment") + ": " + reasons(candidate)));
  if (std::any_of(candidates.begin(), candidates.end(), lacks_image))
    lines.push_back(
        "image_not_mapped: there is no such image; on the gateway's own machine `sandgate image "
        "build debian-12` makes the one of the shipped profiles");
  return lines;
}

std::string health_cell(const Json& item) {
  if (!item.value("enabled", true)) return "off";
  const std::string breaker = cell(item, "/health/breaker");
  if (breaker == "open") return "failing";
  if (breaker == "half_open") return "probing";
  if (breaker != "closed") return breaker;
  return cell(item, "/health/resting") == "true" ? "resting" : "ok";
}

void print_decision(const Console& console, const Json& decision) {
  Table table({"DEPLOYMENT", ">RANK", ">PRICE/HOUR", ">P50 MS", "HEALTH", "REJECTED BECAUSE"});
  for (const Json& candidate : candidates_in(decision)) table.add(row_of(candidate));
  table.print(console, kNoDeployment);
  print_chosen(console, decision);
}

void print_placement(const Console& console, const Json& decision) {
  const Json attempts = decision.value("attempts", Json::array());
  Table table(
      {"DEPLOYMENT", ">RANK", ">PRICE/HOUR", ">P50 MS", "HEALTH", "REJECTED BECAUSE", "ATTEMPTS"});
  for (const Json& candidate : all_considered(decision, attempts)) {
    std::vector<std::string> row = row_of(candidate);
    row.push_back(attempts_on(row.front(), attempts));
    table.add(std::move(row));
  }
  table.print(console, kNoDeployment);
  print_chosen(console, decision);
  if (decision.contains("shadow"))
    console.out << "shadow: version " << printable(cell(decision, "/shadow/version")) << ", "
                << printable(cell(decision, "/shadow/outcome")) << '\n';
}

}  // namespace sandgate::cli
