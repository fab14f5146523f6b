#pragma once
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "gateway/sandboxes/errands.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Compares what backends list with what the registry knows, deployment by deployment, each held up
// by no other; replicas take turns by a lease. A machine of ours is its own gateway's alone, which
// looks at it as soon as it starts. Sandboxes the backend lost become failed; sandboxes
// of this installation that the registry does not know, or knows as ended, are killed once they
// are a minute old; on a machine of ours, where nobody else makes any, unknown ones at once.
class Reconciler {
 public:
  struct Options {
    std::chrono::milliseconds every{15'000};
    std::chrono::milliseconds orphan_age{60'000};  // seen without use for that long
  };
  Reconciler(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle),
        options_(options),
        errands_(asio::make_strand(lifecycle.parts().executor), {.at_once = 2, .waiting = 100}) {}

  struct Result {
    size_t lost = 0, orphans_killed = 0;
  };
  // Empty when another replica has its turn or the backend does not answer.
  Task<std::optional<Result>> reconcile(DeploymentPtr deployment);
  Task<void> run();  // all deployments, spread over each period; until cancelled
  Task<void> rest() const { return errands_.rest(); }  // before it is destroyed

 private:
  // By backend id, when this replica first saw it without use.
  using Sightings = std::map<std::string, std::chrono::steady_clock::time_point>;

  void send_for(DeploymentPtr deployment);
  Task<void> begin_at_own_machine();
  Task<size_t> fail_lost(DeploymentPtr deployment, std::vector<BackendSandbox> listed,
                         std::vector<SandboxRecord> expected);
  Task<size_t> kill_orphans(DeploymentPtr deployment, std::vector<BackendSandbox> listed);
  bool old_enough(std::chrono::steady_clock::time_point first_seen) const;

  Lifecycle& lifecycle_;
  Options options_;
  std::map<DeploymentKey, Sightings> first_seen_;
  Errands errands_;  // on a strand, for first_seen_
};

}  // namespace sandgate
