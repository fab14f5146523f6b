#pragma once
#include <string>

#include "gateway/http/request.hpp"

namespace sandgate::compat::e2b {

// For whom a call is made: "Authorization: Basic" with an empty password, or ?username. Empty: the
// sandbox's own account, which clients also call "user". Throws Error(unauthenticated) for what is
// no such header.
std::string account_of(const http::Request& request);

// Files are read and written as the sandbox's own account only. Throws Error(forbidden).
void check_own_account(const http::Request& request);

// A path as clients write it: "~", relative to the home, or absolute. Throws Error(invalid).
std::string path_from(std::string_view text);

}  // namespace sandgate::compat::e2b
