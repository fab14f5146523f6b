#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/placement/deployment.hpp"

namespace sandgate {

// Background queues of calls to backends, one per line, each with bounded concurrency and length,
// so that a hanging backend delays only its own line. Thread-safe.
class Errands {
 public:
  struct Options {
    size_t at_once = 16, waiting = 2000;  // per line
  };
  explicit Errands(asio::any_io_executor executor) : Errands(std::move(executor), Options()) {}
  // With a strand as executor, the tasks of one Errands may share state without locks.
  Errands(asio::any_io_executor executor, Options options);
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // Queues `work` in `line`; its exceptions are logged. What it refers to must live until rest()
  // returns. Dropped when `id` is queued or running already or the line is full: the row behind it
  // is due again when its lease ends.
  void send(std::string line, std::string id, std::function<Task<void>()> work);

  // One line per shared deployment, and one for all deployments that a tenant owns.
  static std::string line_of(const Deployment& deployment);

  // Returns once nothing is queued or running.
  Task<void> rest() const;

 private:
  struct State;
  static Task<void> run_line(std::shared_ptr<State> state, std::string name);

  asio::any_io_executor executor_;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
