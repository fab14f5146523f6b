#include "local/node/memory_watch.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace sandgate {

MemoryWatch::MemoryWatch(Pace pace, std::function<bool()> is_suspicious, std::function<void()> look)
    : pace_(pace),
      is_suspicious_(std::move(is_suspicious)),
      look_(std::move(look)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {
  pthread_setname_np(thread_.native_handle(), pace_.thread_name);
}

void MemoryWatch::run(const std::stop_token& stop) {
  using WatchClock = std::chrono::steady_clock;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  WatchClock::duration pause = pace_.pause;
  for (;;) {
    stopped.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    const WatchClock::time_point began = WatchClock::now();
    if (is_suspicious_()) look_();
    pause = std::max<WatchClock::duration>(pace_.pause,
                                           pace_.share_of_time * (WatchClock::now() - began));
  }
}

}  // namespace sandgate
