#include "gateway/ports/forwarded_request.hpp"

#include <algorithm>
#include <array>

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/http/response_head.hpp"
#include "gateway/ports/port_token.hpp"
#include "registry/api_secret.hpp"

namespace sandgate::ports {
namespace {

using http::append_field;

constexpr std::array<std::string_view, 9> kHopByHop{"Connection",
                                                    "Keep-Alive",
                                                    "Proxy-Connection",
                                                    "Proxy-Authenticate",
                                                    "Proxy-Authorization",
                                                    "TE",
                                                    "Trailer",
                                                    "Transfer-Encoding",
                                                    "Upgrade"};
// Written anew from what the gateway knows.
constexpr std::array<std::string_view, 7> kOurs{
    "Content-Length",     "Expect",      "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
    "X-Forwarded-Prefix", "X-Request-Id"};
// Fields for the program, whatever a Connection field says: otherwise a client could remove what a
// proxy in front added, or change the request's meaning.
constexpr std::array<std::string_view, 12> kEndToEnd{
    "Host", "Authorization", "Cookie", "Set-Cookie", "Origin",    "Referer",
    "Via",  "Cache-Control", "Accept", "Forwarded",  "X-API-Key", "X-Real-IP"};
constexpr std::array<std::string_view, 5> kEndToEndPrefixes{"Content-", "Accept-", "If-", "Sec-",
                                                            "X-Forwarded-"};
constexpr std::string_view kSandgatePrefix = "X-Sandgate-";

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view one) { return equal_ignoring_case(name, one); });
}

bool is_end_to_end(std::string_view name) {
  return is_one_of(name, kEndToEnd) ||
         std::any_of(
             kEndToEndPrefixes.begin(), kEndToEndPrefixes.end(),
             [&](std::string_view prefix) { return starts_with_ignoring_case(name, prefix); });
}

// Whether one of the words of the text is a Sandgate key.
bool mentions_key(std::string_view text) {
  constexpr std::string_view kOfWords =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_not_of(kOfWords), text.size());
    if (api_secret_hash(text.substr(0, end))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// git and curl send a key as the user name or the password. Some clients leave out the padding.
bool has_key_in_basic(std::string_view credential) {
  std::string padded(trimmed(credential));
  padded.append((4 - padded.size() % 4) % 4, '=');
  const auto text = base64_decode(padded);
  return text && mentions_key(*text);
}

// Whether the value has a Sandgate key; programs may use the same fields for their own keys.
bool has_gateway_key(std::string_view name, std::string_view value) {
  if (equal_ignoring_case(name, "X-API-Key")) return mentions_key(value);
  if (!equal_ignoring_case(name, "Authorization")) return false;
  const size_t space = std::min(value.find(' '), value.size());
  return (equal_ignoring_case(value.substr(0, space), "Basic") &&
          has_key_in_basic(value.substr(space))) ||
         mentions_key(value);
}

// The referring page's address may contain its token.
bool has_page_token(std::string_view name, std::string_view value) {
  return (equal_ignoring_case(name, "Referer") || equal_ignoring_case(name, "Origin")) &&
         (value.find(kTokenParameter) != std::string_view::npos ||
          value.find(kTokenPrefix) != std::string_view::npos);
}

bool stays_here(std::string_view name, std::string_view value, const ConnectionNames& connection) {
  return is_hop_by_hop(name, connection) || is_one_of(name, kOurs) ||
         starts_with_ignoring_case(name, kSandgatePrefix) || has_gateway_key(name, value) ||
         has_page_token(name, value);
}

// Whether a server that resolves dot segments, as many do once they have decoded a path, could take
// the path for one outside its prefix.
bool leads_up(std::string_view path) {
  std::string read;
  for (; !path.empty(); path.remove_prefix(1)) {
    const std::string escape = ascii_lower(path.substr(0, 3));
    const bool is_escape = escape == "%2e" || escape == "%2f" || escape == "%5c";
    const char c = !is_escape ? path.front() : escape == "%2e" ? '.' : '/';
    if (is_escape) path.remove_prefix(2);
    // What follows a semicolon belongs to the segment, but not to its name.
    read.push_back(c == '\\' || c == ';' ? '/' : c);
  }
  return (read + "/").find("/../") != std::string::npos;
}

void append_target(std::string& head, const ForwardedRequest& forwarded) {
  const PortAddress& address = forwarded.address;
  if (!forwarded.upstream_prefix.empty() && leads_up(address.path))
    throw Error::invalid("", "a path that leads upwards ('..') cannot be passed to this sandbox");
  head.append(forwarded.request.method_name()).append(" ");
  head.append(forwarded.upstream_prefix).append(address.path);
  const std::string query = query_without_token(address.query);
  if (!query.empty()) head.append("?").append(query);
  head.append(" HTTP/1.1\r\n");
}

void append_origin(std::string& head, const ForwardedRequest& forwarded) {
  const http::Request& request = forwarded.request;
  const auto before = request.headers.list("X-Forwarded-For");
  std::string chain = before ? *before + ", " : "";
  append_field(head, "X-Forwarded-For", chain + request.remote_address);
  append_field(head, "X-Forwarded-Proto", scheme_of(request, forwarded.tls));
  if (const auto host = request.headers.find("Host"))
    append_field(head, "X-Forwarded-Host", *host);
  else if (forwarded.upstream_prefix.empty())
    append_field(head, "Host", "localhost:" + std::to_string(forwarded.address.port));
  if (!forwarded.address.prefix.empty())
    append_field(head, "X-Forwarded-Prefix", forwarded.address.prefix);
  append_field(head, "X-Request-Id", request.id);
}

void append_framing(std::string& head, const ForwardedRequest& forwarded) {
  if (forwarded.websocket) {
    append_field(head, "Connection", "Upgrade");
    append_field(head, "Upgrade", "websocket");
  } else if (forwarded.body.chunked) {
    append_field(head, "Transfer-Encoding", "chunked");
  } else if (forwarded.body.length) {
    append_field(head, "Content-Length", std::to_string(*forwarded.body.length));
  }
}

ConnectionNames connection_of(const http::Headers& headers) {
  ConnectionNames names;
  for (const auto& [name, value] : headers.fields())
    if (equal_ignoring_case(name, "Connection") && !names.add(value))
      throw Error::invalid("/Connection", "names too many fields");
  return names;
}

}  // namespace

bool is_hop_by_hop(std::string_view name, const ConnectionNames& connection) {
  return is_one_of(name, kHopByHop) || (connection.has(name) && !is_end_to_end(name));
}

std::string_view scheme_of(const http::Request& request, bool tls) {
  const auto told = request.headers.find("X-Forwarded-Proto");
  if (told && equal_ignoring_case(*told, "https")) return "https";
  return tls ? "https" : "http";
}

std::string forwarded_request_head(const ForwardedRequest& forwarded) {
  const http::Headers& headers = forwarded.request.headers;
  const ConnectionNames connection = connection_of(headers);
  std::string head;
  head.reserve(1024);
  append_target(head, forwarded);
  for (const auto& [name, value] : headers.fields()) {
    if (stays_here(name, value, connection)) continue;
    // The Host of a backend reached by path is among upstream_headers.
    if (!forwarded.upstream_prefix.empty() && equal_ignoring_case(name, "Host")) continue;
    if (!equal_ignoring_case(name, "Cookie")) {
      append_field(head, name, value);
    } else if (const std::string cookies = cookies_for_program(value, forwarded.address);
               !cookies.empty()) {
      append_field(head, name, cookies);
    }
  }
  append_origin(head, forwarded);
  for (const auto& [name, value] : forwarded.upstream_headers) append_field(head, name, value);
  append_framing(head, forwarded);
  return head.append("\r\n");
}

}  // namespace sandgate::ports
