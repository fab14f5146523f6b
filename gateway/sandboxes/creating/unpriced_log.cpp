#include "gateway/sandboxes/creating/unpriced_log.hpp"

#include <algorithm>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

bool lacks_price(const Candidate& candidate) {
  return !candidate.price_per_hour && candidate.deployment->enabled;
}

}  // namespace

void UnpricedLog::record(const Decision& decision, bool refused) {
  const auto unpriced = std::ranges::find_if(decision.candidates, lacks_price);
  if (unpriced == decision.candidates.end()) return;
  ++creates_;
  if (!pace_.next()) return;
  log::error("no price is known for a deployment", {{"deployment", unpriced->deployment->name},
                                                    {"provider", unpriced->deployment->provider},
                                                    {"refused", refused}});
}

}  // namespace sandgate
