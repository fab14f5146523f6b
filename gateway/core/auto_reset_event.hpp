#pragma once
#include <memory>

#include "gateway/core/async.hpp"

namespace sandgate {

// An auto-reset event that wakes one coroutine; it can be set from any thread. A set() without a
// waiter is kept for the next wait(), even if an earlier wait was cancelled. Several before a wait
// count as one.
//
// An Asio 1.81 channel does not fit: it refuses to send once a receive was cancelled.
class AutoResetEvent {
 public:
  explicit AutoResetEvent(asio::any_io_executor executor);
  AutoResetEvent(const AutoResetEvent&) = delete;
  AutoResetEvent& operator=(const AutoResetEvent&) = delete;

  void set();  // thread-safe
  // Returns once the event has been set. Only one wait at a time. A cancelled wait throws. Do not
  // destroy the event while a wait is in progress.
  Task<void> wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
