#include "local/node/watch/memory_monitor.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace sandgate {

MemoryMonitor::MemoryMonitor(Schedule schedule, std::function<bool()> is_suspicious,
                             std::function<void()> check)
    : schedule_(schedule),
      is_suspicious_(std::move(is_suspicious)),
      check_(std::move(check)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {
  pthread_setname_np(thread_.native_handle(), schedule_.thread_name);
}

void MemoryMonitor::run(const std::stop_token& stop) {
  using WatchClock = std::chrono::steady_clock;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  WatchClock::duration pause = schedule_.pause;
  for (;;) {
    stopped.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    const WatchClock::time_point began = WatchClock::now();
    if (is_suspicious_()) check_();
    pause = std::max<WatchClock::duration>(schedule_.pause,
                                           schedule_.share_of_time * (WatchClock::now() - began));
  }
}

}  // namespace sandgate
