#pragma once
#include <string>
#include <thread>
#include <vector>

#include "local/node/egress/egress_supervisor.hpp"
#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {

// Attaches sandboxes to the egress process as their records say, and keeps both alike. Thread-safe.
class EgressAttachment {
 public:
  // `table` and `journal` must outlive this object.
  EgressAttachment(const NodeSettings& settings, SandboxTable& table, const Journal& journal)
      : table_(table), journal_(journal), egress_(settings) {}

  // As EgressSupervisor's.
  const std::string& unsupported_reason() const { return egress_.unsupported_reason(); }
  void detach(const std::string& id) { egress_.detach(id); }
  // Also once it is detached; 0 when nothing was counted. Throws StepError.
  int64_t sent_bytes(const std::string& id) const;

  // Called with live.busy held. No effect on a sandbox that needs no way out. Throws as
  // EgressSupervisor::attach().
  void attach(const LiveSandbox& live);
  // Attaches these in the background, until each is attached or gone. To be called once.
  void begin_reattaching(std::vector<LivePtr> adopted);
  // Changes the policy of a running sandbox. Throws Error: timeout when it is to be called again
  // (the egress process has not confirmed the policy yet, or the sandbox is busy); conflict, as
  // lock_sandbox() does, and when a program inside has a port of the way out; not_found,
  // unsupported, unavailable, and StepError: the former policy stays.
  void set_network(const std::string& id, const NetworkPolicy& network);

 private:
  void reattach_all(std::vector<LivePtr> adopted, const std::stop_token& stop);
  bool reattach(LiveSandbox& live, bool tells);  // tells: logs why it is to be retried
  std::string byte_count_of(const std::string& id) const;

  SandboxTable& table_;
  const Journal& journal_;
  EgressSupervisor egress_;
  std::jthread reattaching_;  // runs reattach_all()
};

}  // namespace sandgate
