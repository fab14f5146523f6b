#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/budgets/budget_scope.hpp"
#include "gateway/core/decimal.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

enum class BudgetWindow { day, week, month, total };
enum class OnExceeded { deny, pause, kill };  // in order of severity
std::string_view to_string(BudgetWindow window);
std::string_view to_string(OnExceeded action);
std::optional<BudgetWindow> budget_window_from(std::string_view text);
std::optional<OnExceeded> on_exceeded_from(std::string_view text);

// A limit on what a tenant is charged in a window, and how much of it is used up.
struct Budget {
  int64_t id = 0;
  std::string tenant, name;
  Decimal amount;
  std::string currency;
  BudgetWindow window = BudgetWindow::month;
  std::string timezone = "UTC";
  OnExceeded on_exceeded = OnExceeded::deny;
  std::vector<int> alert_at;  // percent, ascending
  BudgetScope applies_to;
  Decimal credits;  // prepaid money on top of `amount`; only for BudgetWindow::total
  Time window_start;
  std::optional<Time> window_end;  // empty: the window never ends
  Decimal spent;  // charges of usage that began in the window
  Decimal reserved;  // set aside for running sandboxes
  int alerted = 0;  // highest threshold (percent) reported in this window
  bool told_exceeded = false;  // `budget.exceeded` was sent in this window, perhaps before 100 %

  Decimal allowance() const { return amount + credits; }
  Decimal remaining() const { return allowance() - spent - reserved; }  // may be negative
  bool is_spent() const { return spent >= allowance(); }
  bool covers(Time at) const { return at >= window_start && (!window_end || at < *window_end); }
};

// Reads the body of PUT /v1/tenants/{id}/budgets/{name}. Throws Error(invalid).
Budget budget_from(const Json& body, const TenantId& tenant, const std::string& name);
Json to_json(const Budget& budget);

// The thresholds above `alerted` that `spent` has reached, ascending; 100 is always a threshold.
std::vector<int> thresholds_crossed(const Budget& budget);

// The charge for `duration` at a rate, rounded up to 12 digits; 0 for a negative duration.
Decimal estimate(const Decimal& charge_per_hour, std::chrono::microseconds duration);
// How long an amount lasts at a rate, rounded down to microseconds; at most ten years (3650 days).
std::chrono::microseconds lasts(const Decimal& amount, const Decimal& charge_per_hour);

}  // namespace sandgate
