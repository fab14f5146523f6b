#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace sandgate::http {

// The role of a key, which determines its permissions. An operator belongs to no tenant.
enum class Role { owner, admin, developer, billing, viewer, operator_ };

// Names of the roles in the API and the database.
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
