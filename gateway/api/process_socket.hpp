#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// A process to be connected to a client's WebSocket.
struct ProcessSocket {
  OpenSandbox box;
  std::unique_ptr<ProcessStream> stream;
  std::string process_id;
  std::string request_id;
  // The offset of the first byte of output that was asked for; empty: whichever comes next.
  std::optional<uint64_t> from;
};

// Relays frames until the process exits or the client disconnects. Output is pulled only as fast as
// the client reads, and input is read only as fast as the process accepts it.
http::Response web_socket_of(ProcessSocket socket);

}  // namespace sandgate::api
