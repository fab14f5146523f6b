#pragma once
#include <functional>
#include <thread>

namespace sandgate {

// A thread that calls `look` about ten times a second while the TCP buffers of the whole machine
// exceed 32 MiB; less often when `look` is slow, so that it takes at most 1/20 of the time. `look`
// may block.
class TcpWatch {
 public:
  explicit TcpWatch(std::function<void()> look);

 private:
  void run(const std::stop_token& stop);

  std::function<void()> look_;
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
