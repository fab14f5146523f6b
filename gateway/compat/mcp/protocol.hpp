#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/headers.hpp"

// What MCP over streamable HTTP asks of every request, and how a session begins. Pure.
namespace sandgate::compat::mcp {

// The revision to go on with: what the client asks for if it is known here, else the newest that
// is.
std::string_view negotiated_version(std::string_view asked);

// Throws Error(invalid) for an MCP-Protocol-Version that is not known here; without the header all
// is well.
void check_version(const http::Headers& headers);

// A page of a foreign site that reaches this server by a name of its own (DNS rebinding) tells its
// origin: only those of this machine (localhost, 127.0.0.1, [::1]) and of `allowed` (with commas)
// may go on. Throws Error(forbidden).
void check_origin(const http::Headers& headers, std::string_view allowed);

// The result of `initialize`. `own_sandbox`: whether sessions have one.
Json initialize_result(std::string_view version, std::string_view server_version, bool own_sandbox);

}  // namespace sandgate::compat::mcp
