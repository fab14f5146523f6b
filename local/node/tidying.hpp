#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sandgate {

// A thread that starts work which nobody waits for (removing the traces of ended sandboxes) when
// the machine is quiet: whoever has just created or ended a sandbox is about to do the next thing,
// and would share the processors and the disk with it.
class Tidying {
 public:
  using Work = std::function<void()>;
  struct Times {
    // Work starts this long after the last disturb(), two at a time, ...
    std::chrono::milliseconds quiet{10};
    // ... but at the latest this long after it was added, since traces occupy memory and disk.
    std::chrono::milliseconds patience{250};
  };
  // While more wait, the oldest start at once.
  static constexpr size_t kMostWaiting = 64;

  // `post` runs work in the background; what it has begun to run ends before this object does.
  explicit Tidying(std::function<void(Work)> post) : Tidying(std::move(post), Times()) {}
  Tidying(std::function<void(Work)> post, Times times);
  ~Tidying();  // what still waits never starts, see hurry()

  void add(Work work);
  void disturb();  // a request came
  void hurry();  // starts everything that waits, and from now on everything at once

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Work work;
    Clock::time_point overdue;
  };
  void run(const std::stop_token& stop);
  Clock::time_point next_start() const;  // of the oldest; now or earlier: it is due
  void start_oldest();

  const std::function<void(Work)> post_;
  const Times times_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_;  // oldest first
  Clock::time_point disturbed_;
  size_t running_ = 0;
  bool hurries_ = false;
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
