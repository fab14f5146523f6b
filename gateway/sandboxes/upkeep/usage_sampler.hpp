#pragma once
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/upkeep/keyed_work_queue.hpp"

namespace sandgate {

// Polls backends for the counters of running sandboxes (processor time, bytes sent) and books the
// increase. Any number of replicas may poll: a reading counts once. Sandboxes on another gateway's
// machine are left to that gateway, and those whose end is in the outage journal to that end.
class UsageSampler {
 public:
  struct Options {
    std::chrono::seconds min_age{60};  // of the last reading
    int most = 500;  // per deployment and round
  };
  UsageSampler(Lifecycle& lifecycle, Options options)
      : parts_(lifecycle.parts()),
        options_(options),
        work_queue_(parts_.executor, {.at_once = 2, .max_queued = 100}) {}

  // Starts a round in the background; skips deployments whose last round is still running.
  void begin();
  // The same round, one deployment after another. Returns the number of readings taken.
  Task<size_t> sample();

 private:
  struct Due {
    SandboxId id;
    std::string backend_id;
    bool is_first = false;  // no reading was taken or missed before
  };
  DeploymentSet measured() const;
  Task<std::vector<Due>> due_on(DeploymentPtr deployment);
  Task<size_t> sample_on(DeploymentPtr deployment);

  const Lifecycle::Parts& parts_;  // the lifecycle's
  Options options_;
  KeyedWorkQueue work_queue_;
};

}  // namespace sandgate
