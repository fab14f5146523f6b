#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::ports {

// The target of a request for a port. Path and query are views of the request's target, not
// decoded.
struct PortAddress {
  SandboxId sandbox;
  uint16_t port = 0;
  std::string prefix;  // "/p/<id>/<port>" of the path form; empty when the host names the port
  std::string_view path;  // begins with '/'; empty: the prefix lacks a '/'
  std::string_view query;  // without '?'
};

// The part of the request's Host before `domain`, which may include a port; empty when the host is
// not below it.
std::string_view label_below(const http::Request& request, std::string_view domain);
// Whether the request is for a port: its path begins with "/p/", or its Host is below `domain`,
// which may include a port; empty: only paths count.
bool is_for_port(const http::Request& request, std::string_view domain);
// Empty when the sandbox or port is malformed. A host is "<port>-<id>.<domain>" or
// "<port>-<id>-<anything>.<domain>".
std::optional<PortAddress> port_address(const http::Request& request, std::string_view domain);

// `domain` as the client of this request reaches it: with the port of the request's Host, unless
// the domain names one itself or the request came through a proxy, whose port is not known.
std::string reached_domain(const http::Request& request, std::string_view domain);

// "8080-sb….example.com" and "/p/sb…/8080". `port`: a number or a placeholder.
std::string port_host(const SandboxId& sandbox, std::string_view port, std::string_view domain);
std::string port_prefix(const SandboxId& sandbox, std::string_view port);

}  // namespace sandgate::ports
