#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);
// Replaces every byte that is not part of valid UTF-8 by U+FFFD, for display.
std::string to_utf8(std::string_view bytes);

// Whether UTF-8 text has a control character: U+0000 to U+001F, U+007F to U+009F.
bool has_controls(std::string_view text);

// Drops the incomplete character at the end of truncated text. Returns text that is invalid
// elsewhere unchanged.
std::string_view without_cut_character(std::string_view text);

}  // namespace sandgate
