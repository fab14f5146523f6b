#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);
// The text with every byte that does not belong replaced by U+FFFD, for names that must be shown.
std::string to_utf8(std::string_view bytes);

}  // namespace sandgate
