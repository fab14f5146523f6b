#pragma once
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// The io threads, each with its own event loop, so that code on one loop needs no strand.
// Exceptions that escape a handler are logged and the loop continues.
class IoThreads {
 public:
  explicit IoThreads(size_t threads);
  ~IoThreads();  // stops and joins
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  size_t size() const { return loops_.size(); }
  asio::io_context& loop(size_t index) { return *loops_[index]; }
  // Returns an executor for background work; rotates through the loops.
  asio::any_io_executor executor();

  void start();
  // Stops the loops at once and joins. Pending coroutines are destroyed with this object.
  void stop();

 private:
  using Guard = asio::executor_work_guard<asio::io_context::executor_type>;

  std::vector<std::unique_ptr<asio::io_context>> loops_;
  std::vector<Guard> guards_;
  std::vector<std::thread> threads_;
  std::atomic<size_t> next_{0};
};

}  // namespace sandgate::http
