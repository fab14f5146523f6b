#pragma once
#include "gateway/http/client_side.hpp"
#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// Passes bytes both ways after an upgrade until the program ends the connection, the client is
// gone, or neither said anything for `silence` (Error(timeout)).
Task<void> tunnel(http::ClientSide& client, AppConnection& app, std::chrono::milliseconds silence);

}  // namespace sandgate::ports
