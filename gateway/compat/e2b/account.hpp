#pragma once
#include <string>

#include "gateway/http/request.hpp"

namespace sandgate::compat::e2b {

// The account that a call is made for: "Authorization: Basic" with an empty password, or ?username.
// Empty: the sandbox's own account, which clients also call "user". Throws Error(unauthenticated)
// if the header is malformed.
std::string account_of(const http::Request& request);

// Throws Error(forbidden) unless the account is the sandbox's own, the only one for file access.
void check_own_account(const http::Request& request);

// Converts a client's path: "~…", relative to the home, or absolute. Throws Error(invalid) for
// `field`, where the path was given.
std::string path_from(std::string_view text, std::string field = "/path");

}  // namespace sandgate::compat::e2b
