#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "local/node/egress_doors.hpp"
#include "local/node/egress_process.hpp"
#include "local/node/journal.hpp"
#include "local/node/order.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// Whether the policy lets anything out at all.
bool has_way_out(const NetworkPolicy& network);
// Whether a sandbox needs its place in the egress process: secrets are kept there, also while its
// policy lets nothing out.
bool wants_way_out(const SandboxOrder& order);

// The way out of the sandboxes of one node: keeps an egress process running and tells it which
// sandboxes may reach what. Works on sandboxes that run already. While that process is down nothing
// gets out; a new one takes up where it ended, without the secrets, which serve gives it again.
// Thread-safe.
class EgressHost {
 public:
  explicit EgressHost(const NodeSettings& settings);
  ~EgressHost();

  // Why this machine offers no way out; empty when it does.
  const std::string& missing() const { return missing_; }

  // Opens the sandbox of `record`, whose first process `pidfd` names; what it carries is counted in
  // the file `byte_count`, where a count of earlier goes on. Throws StepError (EADDRINUSE: a
  // program inside, or the process of an earlier node, has a door's port), Error(unsupported).
  void attach(const JournalRecord& record, int pidfd, const std::string& byte_count);
  // Another policy for an attached one, in force when this returns: what it does not allow is cut.
  // Throws Error(not_found, unavailable).
  void change(const std::string& id, int pidfd, const NetworkPolicy& network);
  void detach(const std::string& id);  // unknown ids are fine
  bool is_attached(const std::string& id) const;

 private:
  struct Attached {
    EgressDoors doors;
    std::string tenant;
    NetworkPolicy network;
    Fd byte_count;
  };

  void keep_running(std::stop_token stop);
  void live_with(std::unique_lock<std::mutex>& lock);
  void hear(const Json& packet);
  // With the lock held; empty when no process is there to be told.
  std::optional<uint64_t> tell(Json order, const std::vector<int>& fds = {});
  void tell_of(const std::string& id, const Attached& attached);
  void wait_for(std::unique_lock<std::mutex>& lock, std::optional<uint64_t> order);

  const NodeSettings settings_;
  std::string missing_;
  Fd listener_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Attached> attached_;
  EgressProcess process_;  // pid 0: none now
  uint64_t last_told_ = 0, last_done_ = 0;
  std::jthread keeper_;
};

}  // namespace sandgate
