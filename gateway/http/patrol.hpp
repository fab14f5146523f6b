#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

#include "gateway/core/async.hpp"

namespace sandgate::http {

class Connection;

// How many connections a server has, over all its loops.
class Census {
 public:
  size_t count() const { return count_.load(std::memory_order_relaxed); }
  void enter() { count_.fetch_add(1, std::memory_order_relaxed); }
  void leave();
  // Whether none was left before the limit.
  bool wait_until_empty(std::chrono::milliseconds limit);

 private:
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  std::condition_variable empty_;
};

// Looks after the connections of one loop ten times a second: ends those whose deadline has
// passed, and cancels handlers whose client is gone. One timer for all of them.
// Every function is called on the loop, unless it says otherwise.
class Patrol : public std::enable_shared_from_this<Patrol> {
 public:
  struct Entry {
    Connection* connection;
    bool waits = false;  // for the first byte of a request
  };
  using Place = std::list<Entry>::iterator;

  Patrol(asio::io_context& loop, std::shared_ptr<Census> census)
      : loop_(loop), timer_(loop), census_(std::move(census)) {}

  Place add(Connection* connection);
  void remove(Place place);
  // The connection waits for a request from now on, or no longer does.
  void set_waiting(Place place, bool waits);
  // How many wait, less those already promised. From any thread.
  size_t waiting() const;
  // Soon ends the connection that has waited longest. From the one thread that accepts, while
  // waiting() is not 0.
  void promise_room();
  size_t size() const { return size_.load(std::memory_order_relaxed); }  // from any thread

  // From here on connections end after the answer in progress; idle ones end now.
  void begin_stop();
  bool stopping() const { return stopping_; }
  void cancel_all();

 private:
  void schedule();
  void look();
  void make_room();
  void end_those(const std::function<bool(Connection&)>& chosen);

  asio::io_context& loop_;
  asio::steady_timer timer_;
  std::shared_ptr<Census> census_;
  std::list<Entry> busy_, waiting_;  // waiting: the longest first
  std::atomic<size_t> size_{0}, waiting_count_{0}, promised_{0};
  bool ticking_ = false, stopping_ = false;
};

}  // namespace sandgate::http
