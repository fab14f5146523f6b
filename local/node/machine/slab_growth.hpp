#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace sandgate {

// How much the kernel's unreclaimable objects have grown above the least that was seen, by which
// the machine shows that somebody may hold what no control group counts. It proves nothing: the
// kernel has reasons of its own, and what groups count may be unknown.
class SlabGrowth {
 public:
  // Takes the text of /proc/meminfo and how many bytes of it groups count. Returns whether the rest
  // has grown by more than a 32nd of the machine's memory, or 256 MiB if that is less.
  bool is_suspicious(const std::string& meminfo, int64_t counted);

 private:
  int64_t least_kib_ = std::numeric_limits<int64_t>::max();
};

// How much the kernel's locks of files have grown above the least that was seen.
class LockGrowth {
 public:
  // `caches` is where the kernel describes its caches of objects. Never where it does not.
  bool is_suspicious(const std::string& caches = "/sys/kernel/slab");

 private:
  int64_t least_ = std::numeric_limits<int64_t>::max();
};

}  // namespace sandgate
