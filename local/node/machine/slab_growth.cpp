#include "local/node/machine/slab_growth.hpp"

#include <algorithm>

#include "local/namespaces/cgroup.hpp"

namespace sandgate {
namespace {

constexpr int64_t kShareOfMemory = 32;
constexpr int64_t kMaxGrowthKib = 256 << 10;
constexpr int64_t kMaxMoreLocks = 1024;

}  // namespace

bool SlabGrowth::is_suspicious(const std::string& meminfo, int64_t counted) {
  const int64_t slab_kib = stat_value(meminfo, "SUnreclaim:") - counted / 1024;
  least_kib_ = std::min(least_kib_, slab_kib);
  const int64_t bound = std::min(stat_value(meminfo, "MemTotal:") / kShareOfMemory, kMaxGrowthKib);
  return slab_kib - least_kib_ > bound;
}

// The cache may be shared with other objects of its size, of which there are few. The kernel keeps
// `total_objects`, free ones included.
bool LockGrowth::is_suspicious(const std::string& caches) {
  const int64_t locks = read_cgroup_number(caches + "/file_lock_cache", "total_objects");
  least_ = std::min(least_, locks);
  return locks - least_ > kMaxMoreLocks;
}

}  // namespace sandgate
