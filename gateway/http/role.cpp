#include "gateway/http/role.hpp"

#include <array>

namespace sandgate::http {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 6> kNames{{{Role::owner, "owner"},
                                                                   {Role::admin, "admin"},
                                                                   {Role::developer, "developer"},
                                                                   {Role::billing, "billing"},
                                                                   {Role::viewer, "viewer"},
                                                                   {Role::operator_, "operator"}}};

}  // namespace

std::string_view to_string(Role role) {
  for (const auto& [value, text] : kNames)
    if (value == role) return text;
  return "";
}

std::optional<Role> role_from(std::string_view text) {
  for (const auto& [value, name] : kNames)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace sandgate::http
