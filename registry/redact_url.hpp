#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// Redacts a URL for audit trails and logs: what may hold a password (user part, query, fragment)
// becomes "***". Accepts any text and never throws.
std::string redact_url(std::string_view url);

}  // namespace sandgate
