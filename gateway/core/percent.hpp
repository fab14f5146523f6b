#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// Percent-encodes all but unreserved characters, for a path segment or a query's name or value.
std::string percent_encode(std::string_view text);
// Decodes "%2f" escapes; '+' is kept. Empty for a bad escape, a NUL or text that is not UTF-8.
std::optional<std::string> percent_decode(std::string_view encoded);
// Likewise for a name or value in a query, where '+' is a space.
std::optional<std::string> form_decode(std::string_view encoded);

}  // namespace sandgate
