#pragma once
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "registry/role.hpp"

namespace sandgate::http {

using sandgate::Role;

// An authenticated caller. `tenant` is empty only for an operator that acts for no tenant.
struct Caller {
  Role role = Role::viewer;
  std::optional<TenantId> tenant;
  std::string key_id;  // empty for the configured operator secret
  std::string key_name;
  bool suspended = false;  // the tenant is suspended: creates and execs are refused
  std::optional<SandboxId> sandbox;  // if set, the caller may access only this sandbox
  bool is_operator() const { return role == Role::operator_; }
};

}  // namespace sandgate::http
