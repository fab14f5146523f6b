#pragma once
#include <string>

#include "gateway/http/request.hpp"
#include "gateway/ports/port_address.hpp"

namespace sandgate::ports {

// How a request's body travels to the program.
struct BodyFraming {
  std::optional<uint64_t> length;
  bool chunked = false;  // neither: no body
};

struct Forwarding {
  const http::Request& request;
  const PortAddress& address;
  std::string_view upstream_prefix;  // of a backend that is reached by path itself
  const std::vector<std::pair<std::string, std::string>>& upstream_headers;
  BodyFraming body;
  bool upgrade = false;
  bool tls = false;  // how the client came
};

// The head that a program in a sandbox is sent. It is made anew, so that there is one reading of
// it: hop-by-hop fields, what authenticates to Sandgate (its keys, tokens and cookies) and the
// client's framing stay here; the program's own Authorization, Host and cookies pass.
std::string forwarded_head(const Forwarding& forwarding);

// Whether a field concerns one connection only: it never passes. `connection` is the value of the
// Connection field, which may name more; a field that is known to be for the program or the client
// (Host, Authorization, cookies, Content-…) passes even when it is named there.
bool is_hop_by_hop(std::string_view name, std::string_view connection);

// "https" when the client or a proxy before us says so.
std::string_view scheme_of(const http::Request& request, bool tls);

// Appends "Name: value\r\n" so that no value can end its line.
void append_field(std::string& head, std::string_view name, std::string_view value);

}  // namespace sandgate::ports
