#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace sandgate::http {

// "%2f" escapes resolved; '+' stays. Empty for a bad escape, a NUL or text that is not UTF-8.
std::optional<std::string> percent_decode(std::string_view encoded);
// The same for one name or value of a query, where '+' is a space.
std::optional<std::string> form_decode(std::string_view encoded);

}  // namespace sandgate::http
