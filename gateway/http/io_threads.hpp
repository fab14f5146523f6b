#pragma once
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// The `io` threads: one event loop each, so that whatever runs on one loop needs no strand.
// Exceptions that escape a completion are logged, and the loop goes on.
class IoThreads {
 public:
  explicit IoThreads(size_t threads);
  ~IoThreads();  // stops and joins
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  size_t size() const { return loops_.size(); }
  asio::io_context& loop(size_t index) { return *loops_[index]; }
  // An executor for background work, another loop each time.
  asio::any_io_executor executor();

  void start();
  // Ends the loops at once and joins; what still runs on them is destroyed with this object.
  void stop();

 private:
  using Guard = asio::executor_work_guard<asio::io_context::executor_type>;

  std::vector<std::unique_ptr<asio::io_context>> loops_;
  std::vector<Guard> guards_;
  std::vector<std::thread> threads_;
  std::atomic<size_t> next_{0};
};

}  // namespace sandgate::http
