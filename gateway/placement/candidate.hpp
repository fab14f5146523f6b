#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/decimal.hpp"
#include "gateway/placement/deployment.hpp"
#include "gateway/placement/health_board.hpp"

namespace sandgate {

// One deployment in one decision: what was known of it, then what was decided.
struct Candidate {
  DeploymentPtr deployment;
  std::optional<Decimal> price_per_hour;  // what its tenant is charged; empty: unknown
  std::optional<Decimal> cost_per_hour;  // what its vendor asks: nobody's business but ours
  std::optional<Money> expected_price;  // of the whole run, as `cheapest` ranks; empty: unknown
  Health health;
  bool account_busy = false;  // its account takes no create now
  bool price_required = false;  // without a known price it is not eligible

  std::vector<std::string> rejected_because;  // empty: eligible
  bool only_now = false;  // rejected, but for passing reasons alone (breaker, capacity)
  double score = 0;  // smaller is better; what it is made of depends on the strategy
  int rank = 0;  // 1 is tried first; 0: not eligible

  bool eligible() const { return rejected_because.empty(); }
};

}  // namespace sandgate
