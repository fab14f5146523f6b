#pragma once
#include "registry/role.hpp"

namespace sandgate::http {

// What a caller must be allowed to do. permission.cpp maps permissions to roles.
enum class Permission {
  open,  // no key needed
  read,  // any key: the tenant, its usage and events
  read_sandboxes,  // all but billing: sandboxes, profiles, deployments, secrets' names
  use_sandboxes,  // owner, admin, developer: sandboxes, exec, files
  write_profiles,  // owner, admin, developer
  write_secrets,  // owner, admin, developer
  administer_tenant,  // owner, admin: keys, deployments, webhooks of their tenant
  read_audit,  // owner, admin
  read_billing,  // owner, admin, billing, viewer: budgets, prices, invoices, ledger
  write_billing,  // owner, admin, billing
  operate,  // the operator only
};

bool allows(Role role, Permission permission);

}  // namespace sandgate::http
