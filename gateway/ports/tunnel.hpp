#pragma once
#include "gateway/http/client_side.hpp"
#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// Copies bytes both ways after an upgrade until the program closes the connection, the client is
// gone, or both are silent for `silence` (Error(timeout)).
Task<void> tunnel(http::ClientSide& client, AppConnection& app, std::chrono::milliseconds silence);

}  // namespace sandgate::ports
