#pragma once
#include <string>

namespace sandgate {

// A value of a libpq connection string, which may hold spaces.
std::string conninfo_value(const std::string& value);

// What to connect with: the connection string or URI, and, where it does not say otherwise, limits
// that let a server that lost its power be missed within seconds instead of TCP's quarter of an
// hour. A text that libpq does not understand is returned as it is.
std::string patient_conninfo(const std::string& url);

}  // namespace sandgate
