#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace sandgate::http {

// What a key may do; an operator is of no tenant.
enum class Role { owner, admin, developer, billing, viewer, operator_ };

// Roles as the API and the database write them.
constexpr std::array<std::pair<Role, std::string_view>, 6> kRoleNames{
    {{Role::owner, "owner"},
     {Role::admin, "admin"},
     {Role::developer, "developer"},
     {Role::billing, "billing"},
     {Role::viewer, "viewer"},
     {Role::operator_, "operator"}}};
std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view text);

}  // namespace sandgate::http
