#pragma once
#include <string_view>

namespace sandgate::http {

// Whether an Accept field (RFC 9110, 12.5.1) prefers `wanted` to `usual`, the default media type:
// it must list `wanted` explicitly and with a greater weight than `usual`, if that is listed at
// all. Wild cards are ignored.
bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual);

}  // namespace sandgate::http
