#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/secret.hpp"
#include "gateway/ports/port_address.hpp"
#include "gateway/ports/port_store.hpp"

namespace sandgate::ports {

inline constexpr std::string_view kTokenParameter = "sandgate_token";  // of queries and cookies
inline constexpr std::string_view kTokenHeader = "X-Sandgate-Token";

// A new token; with a key always the same one for the same `what`, so that a repeated request can
// be given its answer again although the token is kept nowhere.
Secret make_token(const Secret& key, std::string_view what);
Secret make_token();

// The token a request brings and where it was.
struct BroughtToken {
  std::string_view token;  // refers to the request; empty: none
  bool in_query = false;
};
BroughtToken brought_token(const http::Request& request, const PortAddress& address);
// Throws Error(unauthenticated) unless the token opens the port.
void check_token(const OpenPort& port, const BroughtToken& token);

// A query or a Cookie header without what is for us; the rest unchanged.
std::string query_without_token(std::string_view query);
std::string cookies_without_token(std::string_view cookies);
// A Set-Cookie value that brings the token from now on, for this port only.
std::string token_cookie(std::string_view token, const PortAddress& address, bool secure);

}  // namespace sandgate::ports
