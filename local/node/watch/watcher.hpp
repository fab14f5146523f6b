#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "gateway/core/fd.hpp"

namespace sandgate {

// A thread that waits for the exit of processes, children or not, by epoll on their pidfds.
// add() may be called from any thread.
class Watcher {
 public:
  // `on_exit` is called once with the id of each process that has exited, `on_tick` about every
  // second. Both run on the watcher's thread and must not block.
  Watcher(std::function<void(const std::string&)> on_exit, std::function<void()> on_tick);
  ~Watcher();

  void add(const std::string& id, int pidfd);  // the watcher keeps a duplicate

 private:
  struct Watched {
    std::string id;
    Fd pidfd;
  };
  void run();
  void report(uint64_t key);

  std::function<void(const std::string&)> on_exit_;
  std::function<void()> on_tick_;
  Fd epoll_, stop_;
  std::mutex mutex_;
  uint64_t next_key_ = 1;
  std::unordered_map<uint64_t, Watched> watched_;
  std::jthread thread_;
};

}  // namespace sandgate
