#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sandgate {

// A fixed number of threads that begin posted work in the order of posting. Of the idle threads the
// one that worked last takes it: what belongs to a thread, such as a connection and the server
// process behind it, is still in the processor's caches. Thread-safe.
class ThreadPool {
 public:
  explicit ThreadPool(size_t count);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // `work` must not throw. Not to be called after join().
  void post(std::function<void()> work);
  // Runs what was posted to its end, then ends the threads.
  void join();

 private:
  struct Idle {
    std::condition_variable wake;
    bool is_called = false;
  };
  void serve();

  std::mutex mutex_;
  std::deque<std::function<void()>> posted_;
  std::vector<Idle*> idle_;  // the last to become idle at the back
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sandgate
