#pragma once
#include <string>

namespace sandgate {

// Quotes and escapes a value for a libpq connection string.
std::string conninfo_value(const std::string& value);

// Returns the connection string or URI as a connection string with defaults for connect timeout,
// keepalives and TCP timeout. With them a dead server is noticed within seconds instead of TCP's 15
// minutes. Settings in `url` win. Returns text that libpq cannot parse unchanged.
std::string conninfo_with_timeouts(const std::string& url);

}  // namespace sandgate
