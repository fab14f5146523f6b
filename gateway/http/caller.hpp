#pragma once
#include <optional>
#include <string>

#include "gateway/core/error.hpp"
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

// Throws Error(invalid) if an operator names no tenant to act for.
inline void require_tenant(const Caller& caller) {
  if (caller.tenant) return;
  throw Error::invalid("/X-Sandgate-Tenant",
                       "must name the tenant that an operator acts for "
                       "(--tenant of the command line)");
}

// The error for requests that suspension forbids.
inline Error tenant_is_suspended() {
  return Error(ErrorCode::forbidden, "this tenant is suspended: it may only read and delete");
}
inline void require_not_suspended(const Caller& caller) {
  if (caller.suspended) throw tenant_is_suspended();
}

}  // namespace sandgate::http
