#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace sandgate {

// Bounds of how many epoll items (descriptors that epoll instances watch) may exist, from counts
// that the kernel keeps anyway. Both may be far above the truth, but never below it.
constexpr int64_t kUnknownItems = std::numeric_limits<int64_t>::max();

// Those of all programs of the machine. `caches` is where the kernel describes its caches of
// objects. kUnknownItems where it does not, or only to root.
int64_t epoll_items_of_machine(const std::string& caches = "/sys/kernel/slab");

// Those for which no more kernel memory than this is charged; 0 bytes: unknown.
int64_t epoll_items_within(int64_t kernel_bytes);

}  // namespace sandgate
