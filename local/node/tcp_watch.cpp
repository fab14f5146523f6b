#include "local/node/tcp_watch.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>

namespace sandgate {
namespace {

using WatchClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr int kShareOfTime = 20;
constexpr int64_t kWorthALook = 32 << 20;

// The line "TCP: inuse 5 orphan 0 tw 0 alloc 5 mem 9204" gives the pages of all network namespaces.
int64_t machine_tcp_bytes() {
  std::ifstream counts("/proc/net/sockstat");
  for (std::string line; std::getline(counts, line);) {
    const size_t at = line.find(" mem ");
    if (!line.starts_with("TCP:") || at == std::string::npos) continue;
    int64_t pages = 0;
    std::istringstream(line.substr(at + 5)) >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  }
  return 0;
}

}  // namespace

TcpWatch::TcpWatch(std::function<void()> look)
    : look_(std::move(look)), thread_([this](const std::stop_token& stop) { run(stop); }) {
  pthread_setname_np(thread_.native_handle(), "tcp-watch");
}

void TcpWatch::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  WatchClock::duration pause = kBetweenLooks;
  for (;;) {
    stopped.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    const WatchClock::time_point began = WatchClock::now();
    if (machine_tcp_bytes() > kWorthALook) look_();
    pause =
        std::max<WatchClock::duration>(kBetweenLooks, kShareOfTime * (WatchClock::now() - began));
  }
}

}  // namespace sandgate
