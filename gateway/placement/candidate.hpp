#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/decimal.hpp"
#include "gateway/placement/deployment.hpp"
#include "gateway/placement/health_board.hpp"

namespace sandgate {

// One deployment in one decision: its price and health, then the verdict.
struct Candidate {
  DeploymentPtr deployment;
  std::optional<Decimal> price_per_hour;  // charged to the tenant; empty: unknown
  bool price_is_partial = false;  // some of the charge is in another currency, and not in there
  std::optional<Decimal> cost_per_hour;  // asked by the vendor; never shown to tenants
  std::optional<Money> expected_price;  // of the whole run, ranked by `cheapest`; empty: unknown
  Health health;
  bool account_busy = false;  // its account accepts no create at present
  std::chrono::milliseconds account_backoff{0};  // what is left of a Retry-After to its account
  bool price_required = false;  // not eligible without a known price

  std::vector<std::string> rejected_because;  // empty: eligible
  bool only_now = false;  // rejected for passing reasons only (not reached, breaker, limits)
  double score = 0;  // smaller is better; its meaning depends on the strategy
  int rank = 0;  // 1 is tried first; 0: not eligible

  bool eligible() const { return rejected_because.empty(); }
  // Not eligible for a reason that passes.
  void reject_now(std::string reason) {
    rejected_because.push_back(std::move(reason));
    only_now = true;
  }
};

}  // namespace sandgate
