#pragma once
#include "gateway/sandboxes/errands.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Reads what backends count by themselves (processor time, bytes sent) of running sandboxes and
// books what is new. Any number of replicas may: a reading counts once. Those on the machine of
// another gateway are left to that one.
class UsageSampler {
 public:
  struct Options {
    std::chrono::seconds min_age{60};  // of the last reading
    int most = 500;  // per deployment and round
  };
  UsageSampler(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle),
        parts_(lifecycle.parts()),
        options_(options),
        errands_(parts_.executor, {.at_once = 2, .waiting = 100}) {}

  // Begins a round over the deployments that measure; one whose last is not over is left out.
  void begin();
  // The same round, one deployment after the other. Returns how many readings were taken.
  Task<size_t> sample();

 private:
  struct Due {
    SandboxId id;
    std::string backend_id;
  };
  DeploymentSet measured() const;
  Task<std::vector<Due>> due_on(DeploymentPtr deployment);
  Task<size_t> sample_on(DeploymentPtr deployment);

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  Options options_;
  Errands errands_;
};

}  // namespace sandgate
