#pragma once
#include <string>

#include "gateway/core/connection_names.hpp"
#include "gateway/http/request.hpp"
#include "gateway/ports/port_address.hpp"

namespace sandgate::ports {

// How a request's body is framed for the program.
struct BodyFraming {
  std::optional<uint64_t> length;
  bool chunked = false;  // without length too: no body
};

struct ForwardedRequest {
  const http::Request& request;
  const PortAddress& address;
  std::string_view upstream_prefix;  // of a backend reached by path; else empty
  const std::vector<std::pair<std::string, std::string>>& upstream_headers;
  BodyFraming body;
  bool websocket = false;  // asks for one; no other protocol is ever passed on
  bool tls = false;  // the client's connection
};

// The request head for a program in a sandbox, written anew so that it parses in one way only.
// Leaves out hop-by-hop fields, the client's framing, and Sandgate's own keys, tokens and cookies;
// the program's Authorization, Host and cookies pass. Throws Error(invalid) if the Connection
// fields name too many others, or if the path could leave upstream_prefix.
std::string forwarded_request_head(const ForwardedRequest& forwarded);

// Whether a field applies to one connection only and is never forwarded. `connection` may name more
// such fields. End-to-end fields (Host, Authorization, cookies, Content-…) are forwarded even when
// named there.
bool is_hop_by_hop(std::string_view name, const ConnectionNames& connection);

// "https" if the client connected by TLS or its X-Forwarded-Proto says https, else "http".
std::string_view scheme_of(const http::Request& request, bool tls);

}  // namespace sandgate::ports
