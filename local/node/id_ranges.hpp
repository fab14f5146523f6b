#pragma once
#include <cstdint>
#include <mutex>
#include <set>

namespace sandgate {

// Hands out host id ranges, each to one sandbox at a time. Thread-safe.
class IdRanges {
 public:
  IdRanges(uint32_t first, uint32_t count) : first_(first), count_(count) {}

  uint32_t take();  // the lowest free range's base; throws Error(no_capacity) when all are taken
  void adopt(uint32_t base);  // taken by a sandbox from before; may lie outside our own ranges
  void release(uint32_t base);

 private:
  bool overlaps(uint32_t base) const;

  const uint32_t first_, count_;
  std::mutex mutex_;
  std::set<uint32_t> taken_;  // bases
};

}  // namespace sandgate
