#pragma once
#include <string>

#include "gateway/cli/client.hpp"

namespace sandgate::cli {

// Connects this terminal to a program over a WebSocket until the program ends. Returns its exit
// code. Throws Error(unavailable) if the connection fails or ends before the program.
int run_terminal(const Client& client, const std::string& path);

}  // namespace sandgate::cli
