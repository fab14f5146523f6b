#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);
// The text with every byte that does not belong replaced by U+FFFD, for names that must be shown.
std::string to_utf8(std::string_view bytes);

// The beginning of a text that was cut, without the part of a character at its end. What is no
// UTF-8 all the same stays as it is.
std::string_view without_cut_character(std::string_view text);

}  // namespace sandgate
