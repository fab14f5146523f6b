#include "gateway/ports/port_token.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/core/random.hpp"

namespace sandgate::ports {
namespace {

constexpr size_t kTokenDigits = 40;
constexpr size_t kLongestToken = 64;

// Calls `take(name, value, whole)` for each "name=value" of a list.
template <class Take>
void each_pair(std::string_view list, char separator, Take take) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    const std::string_view whole = list.substr(0, end);
    const std::string_view pair = separator == ';' ? trimmed(whole) : whole;
    const size_t equals = std::min(pair.find('='), pair.size());
    take(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())), pair);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

void add_values(std::string_view list, char separator, size_t most,
                std::vector<std::string_view>& found) {
  each_pair(list, separator, [&](std::string_view name, std::string_view value, std::string_view) {
    if (name == kTokenParameter && !value.empty() && found.size() < most) found.push_back(value);
  });
}

bool opens(const OpenPort& port, std::string_view token) {
  return token.size() <= kLongestToken &&
         equal_in_constant_time(sha256_hex(token), port.token_hash);
}

std::string without_token(std::string_view list, char separator, std::string_view glue) {
  std::string rest;
  bool first = true;
  each_pair(list, separator, [&](std::string_view name, std::string_view, std::string_view whole) {
    if (name == kTokenParameter) return;
    if (!first) rest.append(glue);
    first = false;
    rest.append(whole);
  });
  return rest;
}

}  // namespace

Secret make_token() { return Secret(std::string(kTokenPrefix) + random_hex(kTokenDigits / 2)); }

PresentedTokens presented_tokens(const http::Request& request, const PortAddress& address) {
  PresentedTokens presented;
  add_values(address.query, '&', 1, presented.tokens);
  presented.in_query = !presented.tokens.empty();
  if (presented.in_query) return presented;
  if (const auto token = request.headers.find(kTokenHeader)) {
    if (!token->empty()) presented.tokens.push_back(*token);
    return presented;
  }
  for (const auto& [name, value] : request.headers.fields())
    if (equal_ignoring_case(name, "Cookie")) add_values(value, ';', kMaxTokens, presented.tokens);
  return presented;
}

void check_token(const OpenPort& port, const PresentedTokens& presented) {
  if (port.access == Access::everyone) return;
  if (presented.tokens.empty())
    throw Error(ErrorCode::unauthenticated,
                "this port needs its token: as ?sandgate_token= or in the header X-Sandgate-Token");
  if (std::none_of(presented.tokens.begin(), presented.tokens.end(),
                   [&](std::string_view token) { return opens(port, token); }))
    throw Error(ErrorCode::unauthenticated, "the token is not this port's");
}

std::string query_without_token(std::string_view query) {
  if (query.find(kTokenParameter) == std::string_view::npos) return std::string(query);
  return without_token(query, '&', "&");
}

std::string cookies_without_token(std::string_view cookies) {
  if (cookies.find(kTokenParameter) == std::string_view::npos) return std::string(cookies);
  return without_token(cookies, ';', "; ");
}

std::string cookies_for_program(std::string_view cookies, const PortAddress& address) {
  const std::string own = cookies_without_token(cookies);
  if (address.prefix.empty() || own.find(kRenamedHostPrefix) == std::string::npos) return own;
  std::string named;
  each_pair(own, ';', [&](std::string_view name, std::string_view, std::string_view whole) {
    if (!named.empty()) named.append("; ");
    if (name.starts_with(kRenamedHostPrefix))
      named.append(kHostPrefix).append(whole.substr(kRenamedHostPrefix.size()));
    else
      named.append(whole);
  });
  return named;
}

std::string token_cookie(std::string_view token, const PortAddress& address, bool secure) {
  return std::string(kTokenParameter) + "=" + std::string(token) + "; Path=" + address.prefix +
         "/; HttpOnly; SameSite=Lax" + (secure ? "; Secure" : "");
}

}  // namespace sandgate::ports
