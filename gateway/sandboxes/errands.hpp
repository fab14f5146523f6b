#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/placement/deployment.hpp"

namespace sandgate {

// Calls to backends that nobody waits for: in each line some are under way and more wait, so that a
// backend which hangs holds up its own alone. Thread-safe.
class Errands {
 public:
  struct Options {
    size_t at_once = 16, waiting = 2000;  // in each line
  };
  explicit Errands(asio::any_io_executor executor) : Errands(std::move(executor), Options()) {}
  // Those of one Errands may share what they use when the executor is a strand.
  Errands(asio::any_io_executor executor, Options options);
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // Begins `work` when its turn in `line` comes; what it throws is logged. What it uses must live
  // until rest() returns. Left out when `id` is on its way already or too many wait: the row that
  // says what to do is due again when its lease is over.
  void send(std::string line, std::string id, std::function<Task<void>()> work);

  // One line for all deployments of a tenant: whoever has fifty that hang waits for itself.
  static std::string line_of(const Deployment& deployment);

  // Returns once nothing is under way.
  Task<void> rest() const;

 private:
  struct State;
  static Task<void> run_line(std::shared_ptr<State> state, std::string name);

  asio::any_io_executor executor_;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
