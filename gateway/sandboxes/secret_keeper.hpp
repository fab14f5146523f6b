#pragma once
#include <string>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/placement/deployments.hpp"

namespace sandgate {

// Keeps what backends put in for sandboxes the same as the tenants' secrets: after a new value, a
// removal, and after a backend forgot them in a restart. Only sandboxes that a backend of this
// gateway names are looked at.
class SecretKeeper {
 public:
  SecretKeeper(Database& database, const Deployments& deployments, const Vault& vault)
      : database_(database), deployments_(deployments), vault_(vault) {}

  Task<void> step();  // all deployments once; what fails is tried again the next time

 private:
  Task<void> keep(DeploymentPtr deployment);
  Task<void> give(DeploymentPtr deployment, std::string sandbox);

  Database& database_;
  const Deployments& deployments_;
  const Vault& vault_;
};

}  // namespace sandgate
