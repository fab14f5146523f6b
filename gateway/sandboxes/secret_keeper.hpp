#pragma once
#include <map>
#include <string>

#include "gateway/core/crypto.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Keeps what backends put in for sandboxes the same as the tenants' secrets: after a new value, a
// removal, and after a backend forgot them in a restart. Only sandboxes that a backend of this
// gateway names are looked at.
class SecretKeeper {
 public:
  SecretKeeper(Lifecycle& lifecycle, const Vault& vault) : lifecycle_(lifecycle), vault_(vault) {}

  Task<void> step();  // all deployments once; what fails is tried again the next time

 private:
  Task<void> keep(DeploymentPtr deployment);
  Task<void> give(DeploymentPtr deployment, std::string sandbox);

  Lifecycle& lifecycle_;
  const Vault& vault_;
};

}  // namespace sandgate
