#include "billing/budgets/budget.hpp"

#include <algorithm>

#include "billing/currency.hpp"
#include "gateway/core/document_reader.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxThresholds = 10;
constexpr int64_t kMaxPercent = 1000;
constexpr int64_t kMaxAmount = 1'000'000'000'000;
constexpr std::chrono::microseconds kLongest = std::chrono::hours(24) * 3650;
constexpr int64_t kMicrosPerHour = 3'600'000'000;
constexpr int kEstimateDigits = 12;

constexpr Words kWindowWords({Word{BudgetWindow::day, "day"}, Word{BudgetWindow::week, "week"},
                              Word{BudgetWindow::month, "month"},
                              Word{BudgetWindow::total, "total"}});
constexpr Words kOnExceededWords({Word{OnExceeded::deny, "deny"}, Word{OnExceeded::pause, "pause"},
                                  Word{OnExceeded::kill, "kill"}});

std::vector<int> read_thresholds(ObjectReader& reader, Problems& problems) {
  std::vector<int> thresholds;
  const Json* list = reader.array("alert_at", kMaxThresholds);
  if (!list) return thresholds;
  for (size_t i = 0; i < list->size(); ++i) {
    const auto percent = whole_number((*list)[i]);
    if (percent && *percent >= 1 && *percent <= kMaxPercent)
      thresholds.push_back(static_cast<int>(*percent));
    else
      problems.add("/alert_at/" + std::to_string(i), "must be a whole percentage, 1 to 1000");
  }
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  return thresholds;
}

}  // namespace

std::string_view to_string(BudgetWindow window) { return kWindowWords.of(window); }
std::string_view to_string(OnExceeded action) { return kOnExceededWords.of(action); }
std::optional<BudgetWindow> budget_window_from(std::string_view text) {
  return kWindowWords.find(text);
}
std::optional<OnExceeded> on_exceeded_from(std::string_view text) {
  return kOnExceededWords.find(text);
}

Budget budget_from(const Json& body, const TenantId& tenant, const std::string& name) {
  DocumentReader reader(body);
  Budget budget{.tenant = tenant.value, .name = name};
  for (const std::string_view required : {"amount", "currency", "window"}) reader.require(required);
  if (const auto text = reader.text("amount", {.min = 1, .max = 64})) {
    const auto amount = Decimal::parse(*text);
    if (!amount || *amount > Decimal(kMaxAmount))
      reader.problem("amount",
                     "must be a decimal as a string, not negative, at most 10^12 and with at most"
                     " 18 digits after the point");
    budget.amount = amount.value_or(Decimal());
  }
  budget.currency = reader.text("currency", {.max = 8}).value_or("");
  if (reader.has("currency") && !minor_digits(budget.currency))
    reader.problem("currency", kUnknownCurrency);
  budget.window = reader.word("window", kWindowWords).value_or(budget.window);
  budget.on_exceeded = reader.word("on_exceeded", kOnExceededWords).value_or(budget.on_exceeded);
  budget.timezone = reader.text("timezone", {.min = 1, .max = 64}).value_or("UTC");
  budget.alert_at = read_thresholds(reader, reader.problems());
  budget.applies_to = read_budget_scope(reader, reader.problems());
  reader.finish_or_throw();
  return budget;
}

Json to_json(const Budget& budget) {
  Json json{{"name", budget.name},
            {"amount", budget.amount.to_string()},
            {"currency", budget.currency},
            {"window", to_string(budget.window)},
            {"timezone", budget.timezone},
            {"on_exceeded", to_string(budget.on_exceeded)},
            {"alert_at", budget.alert_at},
            {"window_start", to_rfc3339(budget.window_start)},
            {"window_end", nullptr},
            {"spent", budget.spent.to_string()},
            {"reserved", budget.reserved.to_string()},
            {"remaining", std::max(budget.remaining(), Decimal()).to_string()},
            {"state", budget.is_spent() ? "exceeded" : "ok"}};
  if (budget.window_end) json["window_end"] = to_rfc3339(*budget.window_end);
  // A scope of everything is omitted, as in the request.
  const Json scope = to_json(budget.applies_to);
  if (!scope.empty()) json["applies_to"] = scope;
  if (!budget.credits.is_zero()) json["credits"] = budget.credits.to_string();
  return json;
}

std::vector<int> thresholds_crossed(const Budget& budget) {
  std::vector<int> thresholds = budget.alert_at;
  if (std::find(thresholds.begin(), thresholds.end(), 100) == thresholds.end())
    thresholds.insert(std::upper_bound(thresholds.begin(), thresholds.end(), 100), 100);
  std::erase_if(thresholds, [&](int threshold) {
    return threshold <= budget.alerted ||
           budget.spent * Decimal(100) < budget.allowance() * Decimal(threshold);
  });
  return thresholds;
}

Decimal estimate(const Decimal& charge_per_hour, std::chrono::microseconds duration) {
  return (charge_per_hour * Decimal(std::max<int64_t>(duration.count(), 0)))
      .divided_up(kMicrosPerHour, kEstimateDigits);
}

std::chrono::microseconds lasts(const Decimal& amount, const Decimal& charge_per_hour) {
  if (charge_per_hour.is_zero()) return kLongest;
  const auto micros = (amount * Decimal(kMicrosPerHour)).whole_quotient(charge_per_hour);
  if (micros >= kLongest.count()) return kLongest;
  return std::chrono::microseconds(static_cast<int64_t>(micros));
}

}  // namespace sandgate
