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

// Counts what is open, such as a server's connections over all its loops. Thread-safe.
class WaitGroup {
 public:
  size_t count() const { return count_.load(std::memory_order_relaxed); }
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void done();
  // Waits for zero. Returns false after the limit.
  bool wait_for(std::chrono::milliseconds limit);

 private:
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  std::condition_variable empty_;
};

// The connections of one loop, supervised with a single timer. Ten times a second it ends
// connections whose deadline passed and those whose client left during an answer. Call its
// functions on the loop unless stated otherwise.
class ConnectionSet : public std::enable_shared_from_this<ConnectionSet> {
 public:
  struct Entry {
    Connection* connection;
    bool waits = false;
  };
  using Handle = std::list<Entry>::iterator;

  ConnectionSet(asio::io_context& loop, std::shared_ptr<WaitGroup> open_connections)
      : loop_(loop), timer_(loop), open_connections_(std::move(open_connections)) {}

  Handle add(Connection* connection);
  void remove(Handle handle);
  // Records whether the connection waits for its client, so that it may be evicted: for a request,
  // or for a caller without a key to read its answer.
  void set_waiting(Handle handle, bool waits);
  // Number of waiting connections minus pending schedule_eviction() calls. Thread-safe.
  size_t waiting() const;
  // Schedules the end of the connection that has waited longest. Call only from the accepting
  // thread while waiting() is not 0.
  void schedule_eviction();
  size_t size() const { return size_.load(std::memory_order_relaxed); }  // thread-safe

  // Ends idle connections, and every other one after its answer in progress.
  void begin_stop();
  bool stopping() const { return stopping_; }
  // Ends all of them; see Connection::cut_off().
  void cut_off_all();

 private:
  void schedule();
  void sweep();
  void evict_longest_waiting();
  void end_if(const std::function<bool(Connection&)>& chosen, void (Connection::*end)());

  asio::io_context& loop_;
  asio::steady_timer timer_;
  std::shared_ptr<WaitGroup> open_connections_;
  std::list<Entry> busy_, waiting_;  // waiting_: the longest first
  std::atomic<size_t> size_{0}, waiting_count_{0}, pending_evictions_{0};
  bool ticking_ = false, stopping_ = false;
};

}  // namespace sandgate::http
