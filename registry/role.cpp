#include "registry/role.hpp"

namespace sandgate {
namespace {

// Developers and billing are beside each other: neither may grant the other.
int rank(Role role) {
  switch (role) {
    case Role::operator_:
      return 4;
    case Role::owner:
      return 3;
    case Role::admin:
      return 2;
    case Role::developer:
    case Role::billing:
      return 1;
    case Role::viewer:
      return 0;
  }
  return 0;
}

}  // namespace

std::string_view to_string(Role role) { return kRoleWords.of(role); }

bool may_grant(Role own, Role other) { return own == other || rank(own) > rank(other); }

}  // namespace sandgate
