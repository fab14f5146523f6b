#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::compat::e2b {

inline constexpr uint16_t kDataPort = 49983;  // where clients expect files and processes
inline constexpr std::string_view kBoxHeader = "E2b-Sandbox-Id";
inline constexpr std::string_view kTokenHeader = "X-Access-Token";

// Which sandbox, and which of its ports, a request of a data plane is for.
struct BoxAddress {
  SandboxId sandbox;
  uint16_t port = kDataPort;
};

// By the host "<port>-<id>.<domain>"; empty when it is not below the domain or malformed.
std::optional<BoxAddress> address_by_host(const http::Request& request, std::string_view domain);
// By the host, else by the headers of clients that use one address for all sandboxes.
std::optional<BoxAddress> box_address(const http::Request& request, std::string_view domain);

}  // namespace sandgate::compat::e2b
