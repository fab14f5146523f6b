#include "gateway/http/permission.hpp"

namespace sandgate::http {
namespace {

constexpr unsigned bit(Role role) { return 1u << static_cast<unsigned>(role); }

constexpr unsigned kOperator = bit(Role::operator_);
constexpr unsigned kAdmins = kOperator | bit(Role::owner) | bit(Role::admin);
constexpr unsigned kDevelopers = kAdmins | bit(Role::developer);
constexpr unsigned kEveryone = kDevelopers | bit(Role::billing) | bit(Role::viewer);

constexpr unsigned roles_of(Permission permission) {
  switch (permission) {
    case Permission::open:
      return kEveryone;
    case Permission::read:
      return kEveryone;
    case Permission::read_sandboxes:
      return kDevelopers | bit(Role::viewer);
    case Permission::use_sandboxes:
      return kDevelopers;
    case Permission::write_profiles:
      return kDevelopers;
    case Permission::write_secrets:
      return kDevelopers;
    case Permission::administer_tenant:
      return kAdmins;
    case Permission::read_audit:
      return kAdmins;
    case Permission::read_billing:
      return kAdmins | bit(Role::billing) | bit(Role::viewer);
    case Permission::write_billing:
      return kAdmins | bit(Role::billing);
    case Permission::operate:
      return kOperator;
  }
  return 0;
}

}  // namespace

bool allows(Role role, Permission permission) { return (roles_of(permission) & bit(role)) != 0; }

}  // namespace sandgate::http
