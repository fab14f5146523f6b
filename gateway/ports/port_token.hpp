#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "gateway/ports/port_address.hpp"
#include "gateway/ports/port_store.hpp"

namespace sandgate::ports {

inline constexpr std::string_view kTokenParameter = "sandgate_token";  // in queries and cookies
inline constexpr std::string_view kTokenPrefix = "sgp_";
inline constexpr std::string_view kTokenHeader = "X-Sandgate-Token";

Secret make_token();  // a new one

// The tokens in a request. There may be several in cookies, since programs on other ports can set
// cookies of the same name.
struct PresentedTokens {
  std::vector<std::string_view> tokens;  // views of the request; at most kMaxTokens, none empty
  bool in_query = false;  // then there is only one
};
inline constexpr size_t kMaxTokens = 8;
PresentedTokens presented_tokens(const http::Request& request, const PortAddress& address);
// Throws Error(unauthenticated) unless the port is public or one of the tokens opens it.
void check_token(const OpenPort& port, const PresentedTokens& presented);

// Removes the token; the rest is unchanged.
std::string query_without_token(std::string_view query);
std::string cookies_without_token(std::string_view cookies);
// Browsers accept cookies named __Host-… for the root path only; below a prefix they are renamed.
inline constexpr std::string_view kHostPrefix = "__Host-";
inline constexpr std::string_view kRenamedHostPrefix = "__Secure-sandgate-host-";
// Removes the token and restores the names that the program gave to its cookies.
std::string cookies_for_program(std::string_view cookies, const PortAddress& address);
// Set-Cookie value that carries the token in later requests, for this port only.
std::string token_cookie(std::string_view token, const PortAddress& address, bool secure);

}  // namespace sandgate::ports
