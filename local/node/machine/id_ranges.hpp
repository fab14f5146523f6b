#pragma once
#include <cstdint>
#include <mutex>
#include <set>

namespace sandgate {

// Allocator of host id ranges, each used by one sandbox at a time. Thread-safe.
class IdRanges {
 public:
  IdRanges(uint32_t first, uint32_t count) : first_(first), count_(count) {}

  uint32_t take();  // returns the base of the lowest free range; throws Error(no_capacity)
  void adopt(uint32_t base);  // marks a range of an adopted sandbox; may be outside first..count
  void release(uint32_t base);
  bool is_taken(uint32_t base);  // whether an id of the range at `base` belongs to a taken one

 private:
  bool overlaps(uint32_t base) const;

  const uint32_t first_, count_;
  std::mutex mutex_;
  std::set<uint32_t> taken_;  // bases
};

}  // namespace sandgate
