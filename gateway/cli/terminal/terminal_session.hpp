#pragma once
#include <string>

#include "gateway/cli/client.hpp"
#include "providers/transport/web_socket.hpp"

namespace sandgate::cli {

// Connects this terminal to a program over a WebSocket until the program ends. Returns its exit
// code. Throws Error(unavailable) if the connection fails or ends before the program.
int run_terminal(const Client& client, const std::string& path);
// The same over an open socket of `io`, which is run here. Input is read only as fast as it is
// sent.
int run_terminal(asio::io_context& io, WebSocket& socket);

}  // namespace sandgate::cli
