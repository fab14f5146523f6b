#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::compat::e2b {

inline constexpr uint16_t kDataPort = 49983;  // the port where clients expect envd
inline constexpr uint16_t kCodePort = 49999;  // and the code interpreter
inline constexpr std::string_view kSandboxHeader = "E2b-Sandbox-Id";
inline constexpr std::string_view kTokenHeader = "X-Access-Token";
inline constexpr std::string_view kTrafficHeader = "E2B-Traffic-Access-Token";

// The sandbox and port that a data-plane request addresses.
struct SandboxAddress {
  SandboxId sandbox;
  uint16_t port = kDataPort;
};

// Parses the host "<port>-<id>.<domain>"; empty if it is malformed or not below the domain.
std::optional<SandboxAddress> address_by_host(const http::Request& request,
                                              std::string_view domain);
// Whether the host is "api.<domain>", where clients that know only the domain expect the control
// plane, with paths as if below /e2b.
bool is_control_host(const http::Request& request, std::string_view domain);
// Cuts "-<client id>", which older clients append to the sandbox's id, off the parameter {id}.
void drop_client_id(http::Request& request);
// Uses the host or else the headers of clients that have one address for all sandboxes.
std::optional<SandboxAddress> sandbox_address(const http::Request& request,
                                              std::string_view domain);

}  // namespace sandgate::compat::e2b
