#pragma once
#include <chrono>
#include <functional>
#include <thread>

namespace sandgate {

// A thread that calls `check` while `is_suspicious`, which it asks each time, returns true. Both
// may block, but must not throw.
class MemoryMonitor {
 public:
  struct Schedule {
    const char* thread_name;  // at most 15 bytes
    std::chrono::milliseconds pause;  // between two looks; longer when looks are slow,
    int share_of_time;  // so that they take at most 1/share_of_time of it
  };
  MemoryMonitor(Schedule schedule, std::function<bool()> is_suspicious,
                std::function<void()> check);

 private:
  void run(const std::stop_token& stop);

  const Schedule schedule_;
  std::function<bool()> is_suspicious_;
  std::function<void()> check_;
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
