#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// What a request brings as its token, and where it was. Of cookies there can be several: programs
// behind other ports may set some of that name.
struct BroughtToken {
  std::vector<std::string_view> tokens;  // refer to the request; at most kMostTokens, none empty
  bool in_query = false;  // then there is one
};
inline constexpr size_t kMostTokens = 8;
BroughtToken brought_token(const http::Request& request, const PortAddress& address);
// Throws Error(unauthenticated) unless one of them opens the port.
void check_token(const OpenPort& port, const BroughtToken& brought);

// A query or a Cookie header without what is for us; the rest unchanged.
std::string query_without_token(std::string_view query);
std::string cookies_without_token(std::string_view cookies);
// Names that browsers take for the path / only, and how they are kept below a prefix.
inline constexpr std::string_view kHostPrefix = "__Host-";
inline constexpr std::string_view kKeptHostPrefix = "__Secure-sandgate-host-";
// The same, with the names that the program behind the port gave them.
std::string cookies_for_program(std::string_view cookies, const PortAddress& address);
// A Set-Cookie value that brings the token from now on, for this port only.
std::string token_cookie(std::string_view token, const PortAddress& address, bool secure);

}  // namespace sandgate::ports
