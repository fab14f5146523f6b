#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "gateway/core/async.hpp"

namespace sandgate {

// Does work that nobody waits for (removing the traces of ended sandboxes) when the machine is
// quiet: whoever has just created or ended a sandbox is about to do the next thing, and would share
// the processors and the disk with it. The work has threads of its own, since writing back a disk
// may keep one busy for seconds. What it throws is logged.
class DeferredCleanup {
 public:
  using Work = std::function<void()>;
  struct Times {
    // Work starts this long after the last note_activity(), two at a time, ...
    std::chrono::milliseconds quiet{10};
    // ... but at the latest this long after it was added, since traces occupy memory and disk.
    std::chrono::milliseconds max_delay{250};
  };
  // While more wait, the oldest start at once.
  static constexpr size_t kMaxWaiting = 64;

  DeferredCleanup() : DeferredCleanup(Times()) {}
  explicit DeferredCleanup(Times times);
  ~DeferredCleanup();  // waits for what was started; what waits never starts

  void add(Work work);
  void note_activity();  // a request came
  void finish();  // starts everything that waits and returns when it is done; nothing may follow

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Work work;
    Clock::time_point overdue;
  };
  void run(const std::stop_token& stop);
  Clock::time_point next_start() const;  // of the oldest; now or earlier: it is due
  void start_oldest();

  const Times times_;
  const int usual_nice_;
  mutable std::mutex mutex_;  // guards everything up to running_
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_;  // oldest first
  Clock::time_point last_activity_;
  size_t running_ = 0;
  asio::thread_pool pool_;
  const std::function<void(Work)> post_;
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
