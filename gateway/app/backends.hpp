#pragma once
#include <map>
#include <memory>

#include "gateway/app/foundation.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"
#include "gateway/placement/shared_breakers.hpp"
#include "local/local_provider.hpp"
#include "providers/shell/live_inputs.hpp"

namespace sandgate {

// The backends that run sandboxes: this machine's local provider and the vendors' deployments, with
// their health and circuit breakers.
struct Backends {
  explicit Backends(Foundation& foundation);

  // Waits up to two seconds for this machine's backend to report its descriptor, so that the first
  // creates find it. Returns without it if it does not answer. Blocks; call on the main thread.
  void await_local();
  // Registers notification handlers. Call before notifications start.
  void subscribe();
  // Starts background work.
  void start();
  void render(MetricText& out) const;

  // Adds the problems of a deployment to be stored, with paths such as "/settings/url" or
  // "/credentials/api_key".
  void check(const DeploymentRow& row, Problems& problems) const;

  Foundation& foundation;
  DeploymentStore rows;
  std::shared_ptr<LocalProvider> local;  // null if local sandboxes are disabled
  Deployments deployments;
  HealthBoard health;
  SharedBreakers breakers;

 private:
  DeploymentSet fixed() const;
  std::shared_ptr<Provider> make_provider(const DeploymentRow& row);
  void publish_breaker(const DeploymentKey& deployment, Breaker breaker);
  void forget_removed(const DeploymentSet& set);

  // Programs that run go on when their deployment changes; used by reloads only.
  std::map<DeploymentKey, std::shared_ptr<LiveInputs>> inputs_;
};

}  // namespace sandgate
