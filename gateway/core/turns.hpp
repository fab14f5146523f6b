#pragma once
#include <list>
#include <mutex>

#include "gateway/core/auto_reset_event.hpp"

namespace sandgate {

// Lets a fixed number of coroutines work at a time; the others wait in the order in which they
// came. Thread-safe; the mutex is never held across co_await.
class Turns {
 public:
  explicit Turns(size_t at_once) : free_(at_once) {}

  // A place in the line from construction on, and the turn itself once wait() has returned; both
  // end with destruction. For one coroutine, on whose executor it has to be made.
  class Turn {
   public:
    Turn(Turns& all, asio::any_io_executor executor);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Task<void> wait();

   private:
    friend class Turns;
    Turns& all_;
    AutoResetEvent begun_;
    bool has_it_ = false;  // guarded by all_.mutex_
  };

 private:
  void pass_on();  // requires mutex_

  std::mutex mutex_;
  size_t free_;
  std::list<Turn*> waiting_;
};

}  // namespace sandgate
