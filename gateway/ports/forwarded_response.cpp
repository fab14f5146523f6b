#include "gateway/ports/forwarded_response.hpp"

#include <algorithm>
#include <array>

#include "gateway/core/field_text.hpp"
#include "gateway/http/response_head.hpp"
#include "gateway/ports/forwarded_request.hpp"
#include "gateway/ports/port_token.hpp"

namespace sandgate::ports {
namespace {

using http::append_field;

// Includes "=name=value", which browsers store without a name but send as name=value.
bool names_token(std::string_view cookie) {
  std::string_view pair = trimmed(cookie.substr(0, cookie.find(';')));
  while (pair.starts_with('=')) pair = trimmed(pair.substr(1));
  return trimmed(pair.substr(0, pair.find('='))) == kTokenParameter;
}

// Removes a default port, which a client may omit.
std::string_view without_default_port(std::string_view authority, std::string_view port) {
  if (authority.ends_with(port)) authority.remove_suffix(port.size());
  return authority;
}

// Length of the part of a location that names the gateway itself; 0: none.
size_t own_origin(std::string_view location, std::string_view host) {
  struct Start {
    std::string_view text, port;
  };
  for (const Start& start : {Start{"http://", ":80"}, Start{"https://", ":443"}, Start{"//", ""}}) {
    const size_t from = start.text.size();
    if (host.empty() || !equal_ignoring_case(location.substr(0, from), start.text)) continue;
    const size_t end = std::min(location.find_first_of("/?#", from), location.size());
    const std::string_view named = location.substr(from, end - from);
    return equal_ignoring_case(without_default_port(named, start.port),
                               without_default_port(host, start.port))
               ? end
               : 0;
  }
  return 0;
}

bool is_below_prefix(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() ||
          std::string_view("/?#").find(path[prefix.size()]) != std::string_view::npos);
}

// Fields that affect the whole origin, which other ports and the API share. The last two (the same
// under its name before there was a standard) let a program bind a session of the origin to the
// device: the browser holds up its requests until an address of the program's choice answers.
bool reaches_beyond(std::string_view name) {
  constexpr std::array<std::string_view, 10> kNames{
      "Service-Worker-Allowed",      "Clear-Site-Data",           "NEL",     "Report-To",
      "Reporting-Endpoints",         "Strict-Transport-Security", "Alt-Svc", "Set-Login",
      "Secure-Session-Registration", "Sec-Session-Registration"};
  return std::ranges::any_of(kNames, [&](auto one) { return equal_ignoring_case(name, one); });
}

// Fields by which a program tells the proxy in front of it what to send instead: a file of the
// proxy's machine, or what is at an address of its network.
bool is_for_proxies(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{
      "X-Accel-Redirect", "X-Sendfile", "X-LIGHTTPD-send-file", "X-Reproxy-URL", "X-Reproxy-File"};
  return std::ranges::any_of(kNames, [&](auto one) { return equal_ignoring_case(name, one); });
}

void append_answered(std::string& head, const ForwardedResponse& forwarded, std::string_view name,
                     std::string_view value) {
  const PortAddress& address = forwarded.address;
  if (equal_ignoring_case(name, "X-Request-Id") || is_for_proxies(name)) return;
  if (equal_ignoring_case(name, "Set-Cookie")) {
    if (!names_token(value))
      append_field(head, name, confined_cookie(value, address, forwarded.upstream));
    return;
  }
  if (!address.prefix.empty() && reaches_beyond(name)) return;
  if (!equal_ignoring_case(name, "Location")) return append_field(head, name, value);
  const std::string location = program_location(value, forwarded.upstream);
  if (address.prefix.empty()) return append_field(head, name, location);
  const auto host = forwarded.request.headers.find("Host").value_or("");
  append_field(head, name, confined_location(location, address, host));
}

void append_answer_framing(std::string& head, const AnswerFraming& framing) {
  if (framing.websocket) {
    append_field(head, "Connection", "Upgrade");
    append_field(head, "Upgrade", "websocket");
    return;
  }
  if (framing.chunked)
    append_field(head, "Transfer-Encoding", "chunked");
  else if (framing.length)
    append_field(head, "Content-Length", std::to_string(*framing.length));
  if (!framing.keep_alive)
    append_field(head, "Connection", "close");
  else if (!framing.http11)
    append_field(head, "Connection", "keep-alive");
}

ConnectionNames connection_of(const AppResponse& answer) {
  ConnectionNames names;
  for (const auto& [name, value] : answer.fields())
    if (equal_ignoring_case(name, "Connection") && !names.add(value))
      throw Error(
          ErrorCode::unavailable,
          "the program in the sandbox answered with too many names in its Connection field");
  return names;
}

}  // namespace

std::string program_location(std::string_view location, const Upstream& upstream) {
  const std::string_view path = location.substr(own_origin(location, upstream.host));
  if (upstream.prefix.empty() || !is_below_prefix(path, upstream.prefix))
    return std::string(location);
  const std::string_view rest = path.substr(upstream.prefix.size());
  // A path beginning with "//" would name a host.
  return (rest.starts_with("//") ? "/." : rest.starts_with('/') ? "" : "/") + std::string(rest);
}

std::string confined_location(std::string_view location, const PortAddress& address,
                              std::string_view host) {
  const size_t origin = own_origin(location, host);
  const std::string_view path = location.substr(origin);
  if (is_below_prefix(path, address.prefix) ||
      (origin == 0 && (!path.starts_with('/') || path.starts_with("//"))))
    return std::string(location);
  return std::string(location.substr(0, origin)) + address.prefix +
         (path.starts_with('/') ? "" : "/") + std::string(path);
}

std::string confined_cookie(std::string_view cookie, const PortAddress& address,
                            const Upstream& upstream) {
  const bool by_path = !address.prefix.empty();
  std::string kept, path = "/";
  for (bool first = true; first || !cookie.empty(); first = false) {
    const size_t end = std::min(cookie.find(';'), cookie.size());
    const std::string_view part = trimmed(cookie.substr(0, end));
    cookie.remove_prefix(std::min(end + 1, cookie.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = trimmed(part.substr(0, equals));  // as browsers read it
    if (!first && equal_ignoring_case(name, "Domain")) continue;
    if (!first && (by_path || !upstream.prefix.empty()) && equal_ignoring_case(name, "Path")) {
      const std::string_view value = trimmed(part.substr(std::min(equals + 1, part.size())));
      if (value.starts_with('/')) path = program_location(value, upstream);
      if (!by_path) kept.append("; Path=").append(path);
      continue;
    }
    if (first && by_path && starts_with_ignoring_case(part, kHostPrefix))
      kept.append(kRenamedHostPrefix).append(part.substr(kHostPrefix.size()));
    else
      kept.append(first ? "" : "; ").append(part);
  }
  return by_path ? kept + "; Path=" + confined_location(path, address, "") : kept;
}

std::string forwarded_response_head(const ForwardedResponse& forwarded) {
  const AppResponse& answer = forwarded.answer;
  const ConnectionNames connection = connection_of(answer);
  std::string head;
  head.reserve(1024);
  head.append("HTTP/1.1 ").append(std::to_string(answer.status())).append(" ");
  for (const char c : answer.reason())
    head.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  head.append("\r\n");
  for (const auto& [name, value] : answer.fields()) {
    if (is_hop_by_hop(name, connection) || equal_ignoring_case(name, "Content-Length")) continue;
    append_answered(head, forwarded, name, value);
  }
  append_field(head, "X-Request-Id", forwarded.request.id);
  if (!forwarded.cookie.empty()) append_field(head, "Set-Cookie", forwarded.cookie);
  append_answer_framing(head, forwarded.framing);
  return head.append("\r\n");
}

}  // namespace sandgate::ports
