#pragma once
#include <string_view>

namespace sandgate::http {

// Whether an Accept field (RFC 9110, 12.5.1) asks for `wanted` rather than for the media type that
// is answered otherwise: it names `wanted`, and `usual` not at all or with less weight. Wild cards
// ask for what is usual anyway.
bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual);

}  // namespace sandgate::http
