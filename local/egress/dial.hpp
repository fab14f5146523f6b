#pragma once
#include <string_view>

#include "local/egress/box.hpp"

namespace sandgate::egress {

// Looks the target up, here and now, and connects the connection's upstream to the first address
// that may be reached; what was checked is what is dialled. Returns "" or one word that says why
// not: no_answer, no_such_name, private_address, unreachable, ended.
Task<std::string_view> dial(std::shared_ptr<Connection> connection, Target target);

}  // namespace sandgate::egress
