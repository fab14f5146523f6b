#include "local/namespaces/parent_netns.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <string_view>
#include <thread>

namespace sandgate {
namespace {

constexpr const char* kTableSize = "/proc/sys/net/ipv4/tcp_child_ehash_entries";
constexpr std::string_view kEntries = "1024";  // 8 KiB per sandbox

}  // namespace

Fd make_parent_netns() {
  Fd netns;
  // unshare() affects only the calling thread, so the caller keeps its network namespace.
  std::thread maker([&] {
    if (unshare(CLONE_NEWNET) != 0) return;
    const Fd size(open(kTableSize, O_WRONLY | O_CLOEXEC));
    if (!size || write(size.get(), kEntries.data(), kEntries.size()) < 0) return;
    netns.reset(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  });
  maker.join();
  return netns;
}

}  // namespace sandgate
