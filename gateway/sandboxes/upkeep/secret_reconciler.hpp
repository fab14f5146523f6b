#pragma once
#include <string>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/placement/deployments.hpp"

namespace sandgate {

// Keeps the secrets that backends inject in step with the tenants' stored secrets: after a change
// or removal, and after a backend's restart without them. Checks only sandboxes that a backend of
// this gateway lists.
class SecretReconciler {
 public:
  SecretReconciler(Database& database, const Deployments& deployments, const Cipher& cipher)
      : database_(database), deployments_(deployments), cipher_(cipher) {}

  Task<void> step();  // checks all deployments once; failures are retried by the next step

 private:
  Task<void> reconcile(DeploymentPtr deployment);
  Task<void> push(DeploymentPtr deployment, std::string sandbox);

  Database& database_;
  const Deployments& deployments_;
  const Cipher& cipher_;
};

}  // namespace sandgate
