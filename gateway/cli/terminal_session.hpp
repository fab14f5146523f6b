#pragma once
#include <string>

#include "gateway/cli/client.hpp"

namespace sandgate::cli {

// Joins this terminal with a program over a WebSocket until the program ends; returns its exit
// code. Throws Error(unavailable) when the connection fails or ends before the program.
int run_terminal(const Client& client, const std::string& path);

}  // namespace sandgate::cli
