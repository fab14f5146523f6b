#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/placement/deployment.hpp"

namespace sandgate {

// Runs calls to backends in the background: one queue per key, each with bounded concurrency and
// length, so that a hanging backend delays only its own. Thread-safe.
class KeyedWorkQueue {
 public:
  struct Options {
    size_t at_once = 16, max_queued = 2000;  // per key
  };
  explicit KeyedWorkQueue(asio::any_io_executor executor)
      : KeyedWorkQueue(std::move(executor), Options()) {}
  // With a strand as executor, the tasks of one KeyedWorkQueue may share state without locks.
  KeyedWorkQueue(asio::any_io_executor executor, Options options);
  KeyedWorkQueue(const KeyedWorkQueue&) = delete;
  KeyedWorkQueue& operator=(const KeyedWorkQueue&) = delete;

  // Queues `work` under `key`; its exceptions are logged. What it refers to must live until drain()
  // returns. Dropped when `id` is queued or running already or the queue is full: the row behind it
  // is due again when its lease ends.
  void post(std::string key, std::string id, std::function<Task<void>()> work);

  // One key per shared deployment, and one for all deployments that a tenant owns.
  static std::string queue_key(const Deployment& deployment);

  // Returns once nothing is queued or running.
  Task<void> drain() const;

 private:
  struct State;
  static Task<void> run_queue(std::shared_ptr<State> state, std::string name);

  asio::any_io_executor executor_;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
