#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gateway/http/routes.hpp"
#include "gateway/placement/deployment_key.hpp"
#include "registry/deployment_store.hpp"

namespace sandgate::api {

// /v1/deployments: shared deployments, changed by the operator, and a tenant's own ("bring your own
// key"), changed by its owners and admins. Credentials are write-only. A tenant does not see the
// settings of shared deployments.
class DeploymentHandlers {
 public:
  struct Rules {
    std::vector<std::string> providers;  // names of the providers that exist
    // Adds problems of settings and credentials ("/settings/url", "/credentials/api_key").
    std::function<void(const DeploymentRow& row, Problems& problems)> validate;
    // Waits, for a bounded time, until this gateway's creates use the change; may be empty.
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
