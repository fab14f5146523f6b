#pragma once
#include <memory>

#include "gateway/app/foundation.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"
#include "gateway/placement/shared_breakers.hpp"
#include "local/local_provider.hpp"

namespace sandgate {

// Where sandboxes can run, and how that went of late: the machine's own backend, the deployments of
// vendors, and their breakers.
struct Backends {
  explicit Backends(Foundation& foundation);

  // Waits until this machine's backend has told what it offers, two seconds at most: the first
  // creates are to find it, and are told when it is away. Blocks: for the main thread.
  void await_local();
  // Says what notifications are for; before they start.
  void subscribe();
  // Takes up what runs by itself.
  void start();
  void render(MetricText& out) const;

  // Adds what is wrong with a deployment that somebody wants to keep: "/settings/url",
  // "/credentials/api_key".
  void check(const DeploymentRow& row, Problems& problems) const;

  Foundation& foundation;
  DeploymentStore rows;
  std::shared_ptr<LocalProvider> local;  // null when this machine offers no sandboxes
  Deployments deployments;
  HealthBoard health;
  SharedBreakers breakers;

 private:
  DeploymentSet fixed() const;
  std::shared_ptr<Provider> make_provider(const DeploymentRow& row);
  void tell_breaker(const DeploymentKey& deployment, Breaker breaker);
};

}  // namespace sandgate
