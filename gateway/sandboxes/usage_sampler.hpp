#pragma once
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
  UsageSampler(Lifecycle& lifecycle, Options options) : lifecycle_(lifecycle), options_(options) {}

  // One round over the deployments that measure. Returns how many readings were taken.
  Task<size_t> sample();

 private:
  struct Due {
    SandboxId id;
    std::string backend_id;
  };
  Task<std::vector<Due>> due_on(DeploymentPtr deployment);

  Lifecycle& lifecycle_;
  Options options_;
};

}  // namespace sandgate
