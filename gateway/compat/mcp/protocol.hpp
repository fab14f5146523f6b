#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/headers.hpp"

// Rules of MCP over streamable HTTP for every request, and the answer to `initialize`. Pure.
namespace sandgate::compat::mcp {

// Returns the requested revision if it is supported, else the newest supported one.
std::string_view negotiated_version(std::string_view asked);

// Throws Error(invalid) for an unsupported MCP-Protocol-Version. The header may be absent.
void check_version(const http::Headers& headers);

// Protects against DNS rebinding by web pages: an Origin must be of this machine (localhost,
// 127.0.0.1, [::1]) or in `allowed` (separated by commas). Throws Error(forbidden). The header may
// be absent.
void check_origin(const http::Headers& headers, std::string_view allowed);

// The result of `initialize`. `own_sandbox`: whether a session has a sandbox of its own.
Json initialize_result(std::string_view version, std::string_view server_version, bool own_sandbox);

}  // namespace sandgate::compat::mcp
