#pragma once
#include <string>
#include <utility>
#include <vector>

#include "gateway/core/fd.hpp"

namespace sandgate {

// A new connection to a port inside a sandbox. The sandbox may hold the same socket and change its
// mode, so every call on the socket must be explicitly non-blocking. For a backend that reaches
// ports by HTTP only, the other members say what each request needs.
struct PortConnection {
  Fd socket;  // a stream socket, connected or connecting
  std::string tls_host;  // if not empty, TLS must be started with this name
  std::string path_prefix;  // prepended to a request's path, "/p/sb…/8080"
  std::vector<std::pair<std::string, std::string>> headers;  // added to every request
};

}  // namespace sandgate
