#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// A URL for trails and logs, which are read by more people and for longer than it is used: what may
// be a password (user, query, fragment) is "***". Takes any text, never throws.
std::string shown_url(std::string_view url);

}  // namespace sandgate
