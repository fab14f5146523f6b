#pragma once
#include <memory>
#include <string>

#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// One process on one WebSocket.
struct ProcessSocket {
  OpenSandbox box;
  std::unique_ptr<ProcessStream> stream;
  std::string process_id;
  std::string request_id;
};

// Carries frames both ways until the process exits or the client goes. Output is pulled only as
// fast as the client reads; input is read only as fast as the process takes it.
http::Response web_socket_of(ProcessSocket socket);

}  // namespace sandgate::api
