#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace sandgate::http {

// Decodes "%2f" escapes; '+' is kept. Empty for a bad escape, a NUL or text that is not UTF-8.
std::optional<std::string> percent_decode(std::string_view encoded);
// Likewise for a name or value in a query, where '+' is a space.
std::optional<std::string> form_decode(std::string_view encoded);

}  // namespace sandgate::http
