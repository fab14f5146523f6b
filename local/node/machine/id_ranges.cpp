#include "local/node/machine/id_ranges.hpp"

#include "gateway/core/error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {

// Adopted bases need not be aligned with the node's own ranges.
bool IdRanges::overlaps(uint32_t base) const {
  auto after = taken_.lower_bound(base);
  if (after != taken_.end() && *after - base < kIdRange) return true;
  return after != taken_.begin() && base - *std::prev(after) < kIdRange;
}

uint32_t IdRanges::take() {
  std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < count_; ++i) {
    uint32_t base = first_ + i * kIdRange;
    if (overlaps(base)) continue;
    taken_.insert(base);
    return base;
  }
  throw Error(ErrorCode::no_capacity, "every user id range of this machine is taken");
}

void IdRanges::adopt(uint32_t base) {
  std::lock_guard lock(mutex_);
  taken_.insert(base);
}

bool IdRanges::is_taken(uint32_t base) {
  std::lock_guard lock(mutex_);
  return overlaps(base);
}

void IdRanges::release(uint32_t base) {
  std::lock_guard lock(mutex_);
  taken_.erase(base);
}

}  // namespace sandgate
