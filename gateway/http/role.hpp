#pragma once
#include <optional>
#include <string_view>

#include "gateway/http/message.hpp"

namespace sandgate::http {

// Roles as the API and the database write them: "owner", …, "operator".
std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view text);

}  // namespace sandgate::http
