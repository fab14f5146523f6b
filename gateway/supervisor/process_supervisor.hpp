#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/supervisor/supervised_child.hpp"

namespace sandgate {

// Keeps a set of processes running. Restarts those that die, with growing pauses, and forwards
// SIGHUP to those that reload. On SIGTERM or SIGINT stops all in reverse order. Single-threaded;
// parses no input itself.
//
// If this process is killed, the kernel stops the children. Sandboxes are not children and keep
// running.
class ProcessSupervisor {
 public:
  using Renewal = SupervisedChild::Renewal;

  // Children are started in this order.
  void add(ChildSpec spec, std::chrono::seconds stop_timeout) {
    children_.emplace_back(std::move(spec), stop_timeout);
  }
  // Called at every SIGHUP. If empty, settings stay as they are; the signal is forwarded either
  // way. Must not throw.
  void on_reload(std::function<std::optional<Renewal>()> renew) { renew_ = std::move(renew); }
  // Runs until told to stop and returns this process's exit code. Throws Error(unavailable) with
  // the child's final message if a child cannot start.
  int run();

 private:
  // start_due() and reap() return the reason if everything has to stop.
  std::optional<std::string> start_due();
  std::optional<std::string> reap();
  void reload();
  std::chrono::milliseconds idle_time() const;

  std::vector<SupervisedChild> children_;
  std::function<std::optional<Renewal>()> renew_;
};

}  // namespace sandgate
