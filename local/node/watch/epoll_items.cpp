#include "local/node/watch/epoll_items.hpp"

#include <algorithm>

#include "local/namespaces/cgroup.hpp"

namespace sandgate {
namespace {

// An item of 128 bytes, and its place in the queue of what it watches, 64 or more.
constexpr int64_t kItemBytes = 192;

}  // namespace

// A cache may be shared with other objects of its size, so the smaller number is the better one.
// `total_objects` is kept by the kernel; for `objects` it would walk through lists.
int64_t epoll_items_of_machine(const std::string& caches) {
  int64_t items = kUnknownItems;
  for (const char* cache : {"/eventpoll_epi", "/eventpoll_pwq"})
    if (const int64_t total = read_cgroup_number(caches + cache, "total_objects"); total > 0)
      items = std::min(items, total);
  return items;
}

int64_t epoll_items_within(int64_t kernel_bytes) {
  return kernel_bytes > 0 ? kernel_bytes / kItemBytes : kUnknownItems;
}

}  // namespace sandgate
