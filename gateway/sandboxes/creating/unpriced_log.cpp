#include "gateway/sandboxes/creating/unpriced_log.hpp"

#include <algorithm>
#include <chrono>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kLogUnpricedEvery{60};

bool lacks_price(const Candidate& candidate) {
  return !candidate.price_per_hour && candidate.deployment->enabled;
}

}  // namespace

void UnpricedLog::record(const Decision& decision, bool refused) {
  const auto unpriced = std::ranges::find_if(decision.candidates, lacks_price);
  if (unpriced == decision.candidates.end()) return;
  ++creates_;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const int64_t logged = logged_;
  if (seconds - logged < kLogUnpricedEvery.count() && logged != 0) return;
  logged_ = seconds;
  log::error("no price is known for a deployment", {{"deployment", unpriced->deployment->name},
                                                    {"provider", unpriced->deployment->provider},
                                                    {"refused", refused}});
}

}  // namespace sandgate
