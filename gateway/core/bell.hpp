#pragma once
#include <memory>

#include "gateway/core/async.hpp"

namespace sandgate {

// An auto-reset event that wakes one coroutine; it can be set from any thread. A ring without a
// waiter is kept for the next wait(), even if an earlier wait was cancelled. Several rings before a
// wait count as one.
//
// An Asio 1.81 channel does not fit: it refuses to send once a receive was cancelled.
class Bell {
 public:
  explicit Bell(asio::any_io_executor executor);
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring();  // thread-safe
  // Returns once the bell has been rung. Only one wait at a time. A cancelled wait throws. Do not
  // destroy the bell while a wait is in progress.
  Task<void> wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
