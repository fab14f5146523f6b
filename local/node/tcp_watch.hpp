#pragma once
#include <functional>
#include <thread>

namespace sandgate {

// Calls `look` about ten times a second while TCP buffers of the whole machine hold more than 32
// MiB, less often when a look takes long: at most a twentieth of its thread's time is spent. `look`
// runs on that thread and may block.
class TcpWatch {
 public:
  explicit TcpWatch(std::function<void()> look);

 private:
  void run(const std::stop_token& stop);

  std::function<void()> look_;
  std::jthread thread_;  // uses the others
};

}  // namespace sandgate
