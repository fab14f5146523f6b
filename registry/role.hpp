#pragma once
#include <string_view>

#include "gateway/core/words.hpp"

namespace sandgate {

// The role of a key, which determines its permissions. An operator belongs to no tenant.
enum class Role { owner, admin, developer, billing, viewer, operator_ };

inline constexpr Words kRoleWords({Word{Role::owner, "owner"}, Word{Role::admin, "admin"},
                                   Word{Role::developer, "developer"},
                                   Word{Role::billing, "billing"}, Word{Role::viewer, "viewer"},
                                   Word{Role::operator_, "operator"}});
std::string_view to_string(Role role);

// Whether a key of role `own` may create, rotate or revoke one of role `other`: the same role or a
// lower one. Operators may manage all.
bool may_grant(Role own, Role other);

}  // namespace sandgate
