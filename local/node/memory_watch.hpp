#pragma once
#include <chrono>
#include <functional>
#include <thread>

namespace sandgate {

// A thread that calls `look` while `is_suspicious`, which it asks each time, returns true. Both may
// block, but must not throw.
class MemoryWatch {
 public:
  struct Pace {
    const char* thread_name;  // at most 15 bytes
    std::chrono::milliseconds pause;  // between two looks; longer when looks are slow,
    int share_of_time;  // so that they take at most 1/share_of_time of it
  };
  MemoryWatch(Pace pace, std::function<bool()> is_suspicious, std::function<void()> look);

 private:
  void run(const std::stop_token& stop);

  const Pace pace_;
  std::function<bool()> is_suspicious_;
  std::function<void()> look_;
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
