#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "local/node/egress/egress_listeners.hpp"
#include "local/node/egress/egress_process.hpp"
#include "local/node/server/sandbox_request.hpp"
#include "local/node/settings.hpp"
#include "local/node/supervisor/journal.hpp"

namespace sandgate {

// Whether the policy allows any target.
bool allows_egress(const NetworkPolicy& network);
// Whether a sandbox must be attached to the egress process: because its policy allows something, or
// because it has secrets, which are kept there.
bool needs_egress(const SandboxRequest& request);

// Supervises the egress process of a node: keeps it running and tells it which running sandboxes
// may reach what. A process that has not said anything for 15 s, although it is asked, is replaced.
// While the process is down, sandboxes reach nothing. A restarted process is told all sandboxes
// again; serve gives it their secrets again. Thread-safe.
class EgressSupervisor {
 public:
  explicit EgressSupervisor(const NodeSettings& settings);
  ~EgressSupervisor();

  // Why this machine does not support egress; empty when it does.
  const std::string& unsupported_reason() const { return unsupported_reason_; }

  // Attaches the sandbox of `record`, whose first process is `pidfd`. Bytes it sends are added to
  // the count in the file `byte_count`. Throws StepError (EADDRINUSE: a program inside, or the
  // process of an earlier node, has a listener's port) and Error(unsupported).
  void attach(const JournalRecord& record, int pidfd, const std::string& byte_count);
  // Changes the policy of an attached sandbox. Returns whether it is in force: connections that it
  // does not allow are cut. If not, to be called again: a process that has not confirmed it after
  // 5 s is killed. Throws Error(not_found) and StepError.
  bool change(const std::string& id, int pidfd, const NetworkPolicy& network);
  // Cuts the sandbox's connections. When this returns, nothing is added to its count any more,
  // unless the egress process takes longer than a moment. Unknown ids are ignored.
  void detach(const std::string& id);
  bool is_attached(const std::string& id) const;

 private:
  struct Command {
    uint64_t number = 0;
    pid_t to = 0;
    std::chrono::steady_clock::time_point at;
  };
  struct Attached {
    EgressListeners listeners;
    std::string tenant;
    NetworkPolicy network;
    Fd byte_count;
    // The last change of `network`, unless it is known to be carried out.
    std::optional<Command> changing = std::nullopt;
  };

  void keep_running(std::stop_token stop);
  void supervise(std::unique_lock<std::mutex>& lock);
  void handle_packet(const Json& packet);
  // Sends a command; empty when no process runs. Called with mutex_ held.
  std::optional<Command> send_command(Json command, const std::vector<int>& fds = {});
  void send_attach(const std::string& id, const Attached& attached);
  // Returns whether the command is carried out, or its process gone, within `timeout`.
  bool wait_until_done(std::unique_lock<std::mutex>& lock, const Command& command,
                       std::chrono::milliseconds timeout);

  const NodeSettings settings_;
  std::string unsupported_reason_;
  Fd listener_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Attached> attached_;
  EgressProcess process_;  // pid 0: not running
  uint64_t last_sent_ = 0, last_done_ = 0;
  std::jthread thread_;
};

}  // namespace sandgate
