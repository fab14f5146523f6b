#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gateway/http/routes.hpp"
#include "gateway/placement/deployment_key.hpp"
#include "registry/deployment_store.hpp"

namespace sandgate::api {

// /v1/deployments: shared ones by the operator, a tenant's own ("bring your own key") by its owners
// and admins. Credentials go in and never come out; a tenant does not see the settings of shared
// ones either.
class DeploymentHandlers {
 public:
  struct Rules {
    std::vector<std::string> providers;  // names that exist
    // Adds what is wrong with settings and credentials ("/settings/url", "/credentials/api_key").
    std::function<void(const DeploymentRow& row, Problems& problems)> validate;
    // Waits, not for long, until what was written counts for this gateway's creates; may be empty.
    std::function<Task<void>(DeploymentKey key)> take_up;
  };

  DeploymentHandlers(DeploymentStore& deployments, Rules rules)
      : deployments_(deployments), rules_(std::move(rules)) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> put(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> remove(http::Request& request);

 private:
  DeploymentDraft draft_from(const http::Request& request) const;
  Task<void> take_up(const http::Request& request) const;

  DeploymentStore& deployments_;
  Rules rules_;
};

}  // namespace sandgate::api
