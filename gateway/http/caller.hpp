#pragma once
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "gateway/http/role.hpp"

namespace sandgate::http {

// Who calls. `tenant` is empty only for an operator that acts for none.
struct Caller {
  Role role = Role::viewer;
  std::optional<TenantId> tenant;
  std::string key_id;  // empty for the operator key of the environment
  std::string key_name;
  bool suspended = false;  // of the tenant: creates and execs are refused
  std::optional<SandboxId> sandbox;  // set: the only one of the tenant's it may touch
  bool is_operator() const { return role == Role::operator_; }
};

}  // namespace sandgate::http
