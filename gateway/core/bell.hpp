#pragma once
#include <memory>

#include "gateway/core/async.hpp"

namespace sandgate {

// Wakes one coroutine from any thread. A ring that nobody waits for is kept, also by one who has
// given up waiting before; several are one.
//
// Not a channel of Asio 1.81: that one refuses what is sent after a receive was cancelled.
class Bell {
 public:
  explicit Bell(asio::any_io_executor executor);
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring();  // thread-safe
  // Returns once it has rung. One wait at a time; it can be cancelled, and throws then. The bell
  // may be destroyed only after whoever waits.
  Task<void> wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
