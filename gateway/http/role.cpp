#include "gateway/http/role.hpp"

namespace sandgate::http {

std::string_view to_string(Role role) {
  for (const auto& [value, text] : kRoleNames)
    if (value == role) return text;
  return "";
}

std::optional<Role> role_from(std::string_view text) {
  for (const auto& [value, name] : kRoleNames)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace sandgate::http
