#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::ports {

// Where a request for a port goes. Path and query are as the client wrote them, for the app to
// decode, and refer to the request's target.
struct PortAddress {
  SandboxId sandbox;
  uint16_t port = 0;
  std::string prefix;  // "/p/<id>/<port>" of the path form; empty when the host names the port
  std::string_view path;  // begins with '/'; empty: the slash behind the prefix is missing
  std::string_view query;  // without '?'
};

// Whether the request is for a port: its path begins with "/p/", or its Host is below `domain`
// (which may name a port of its own; empty: none).
bool is_for_port(const http::Request& request, std::string_view domain);
// Empty when the name of the port is malformed.
std::optional<PortAddress> port_address(const http::Request& request, std::string_view domain);

// "8080-sb….example.com", "/p/sb…/8080". `port`: a number, or what stands for one.
std::string port_host(const SandboxId& sandbox, std::string_view port, std::string_view domain);
std::string port_prefix(const SandboxId& sandbox, std::string_view port);

}  // namespace sandgate::ports
