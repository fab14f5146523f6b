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

// Counts the connections of a server over all its loops. Thread-safe.
class Census {
 public:
  size_t count() const { return count_.load(std::memory_order_relaxed); }
  void enter() { count_.fetch_add(1, std::memory_order_relaxed); }
  void leave();
  // Returns false if connections are left after the limit.
  bool wait_until_empty(std::chrono::milliseconds limit);

 private:
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  std::condition_variable empty_;
};

// Supervises the connections of one loop with a single timer. Ten times a second it ends
// connections whose deadline passed and those whose client left during an answer. Call its
// functions on the loop unless stated otherwise.
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
  // Records whether the connection is waiting for a request.
  void set_waiting(Place place, bool waits);
  // Number of waiting connections minus pending promise_room() calls. Thread-safe.
  size_t waiting() const;
  // Schedules the end of the connection that has waited longest. Call only from the accepting
  // thread while waiting() is not 0.
  void promise_room();
  size_t size() const { return size_.load(std::memory_order_relaxed); }  // thread-safe

  // Ends idle connections, and every other one after its answer in progress.
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
  std::list<Entry> busy_, waiting_;  // waiting_: the longest first
  std::atomic<size_t> size_{0}, waiting_count_{0}, promised_{0};
  bool ticking_ = false, stopping_ = false;
};

}  // namespace sandgate::http
