#include "gateway/compat/mcp/protocol.hpp"

#include <algorithm>
#include <array>

#include "gateway/core/field_text.hpp"
#include "gateway/http/token.hpp"

namespace sandgate::compat::mcp {
namespace {

// Newest first.
constexpr std::array<std::string_view, 3> kVersions{"2025-11-25", "2025-06-18", "2025-03-26"};

bool is_known(std::string_view version) {
  return std::ranges::find(kVersions, version) != kVersions.end();
}

// "http://localhost:3000" yields "localhost"; empty if it is not an http origin.
std::string_view host_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    origin.remove_prefix(scheme.size());
    const size_t from = origin.starts_with('[') ? origin.find(']') : 0;
    if (from == std::string_view::npos) return "";
    return origin.substr(0, origin.find(':', from));
  }
  return "";
}

constexpr std::string_view kOwnSandbox =
    "Sandboxes run programs apart from everything else. Tools that are given no sandbox_id share "
    "one sandbox of this session: it is made when it is first needed, keeps files between calls, "
    "and ends with the session or when its time is over; a result with \"new_sandbox\": true says "
    "that it has just been made, empty. ";
constexpr std::string_view kNoSandbox =
    "Sandboxes run programs apart from everything else. Make one with sandbox_create and give its "
    "sandbox_id to the other tools. ";
constexpr std::string_view kFailures =
    "A failed call has a JSON text with a stable \"code\" and a \"detail\".";

}  // namespace

std::string_view negotiated_version(std::string_view asked) {
  return is_known(asked) ? asked : kVersions.front();
}

void check_version(const http::Headers& headers) {
  const auto version = headers.find("MCP-Protocol-Version");
  if (!version || is_known(*version)) return;
  std::string known;
  for (const std::string_view one : kVersions) known.append(known.empty() ? "" : ", ").append(one);
  throw Error::invalid("/MCP-Protocol-Version", "must be one of " + known);
}

void check_origin(const http::Headers& headers, std::string_view allowed) {
  const auto origin = headers.find("Origin");
  if (!origin || (!origin->empty() && http::has_token(allowed, *origin))) return;
  const std::string_view host = host_of(*origin);
  for (const std::string_view here : {"localhost", "127.0.0.1", "[::1]"})
    if (equal_ignoring_case(host, here)) return;
  throw Error(ErrorCode::forbidden, "pages of this origin may not use MCP here");
}

Json initialize_result(std::string_view version, std::string_view server_version,
                       bool own_sandbox) {
  std::string instructions(own_sandbox ? kOwnSandbox : kNoSandbox);
  instructions += kFailures;
  return {
      {"protocolVersion", version},
      {"capabilities", {{"tools", Json::object()}}},
      {"serverInfo", {{"name", "sandgate"}, {"title", "Sandgate"}, {"version", server_version}}},
      {"instructions", instructions}};
}

}  // namespace sandgate::compat::mcp
