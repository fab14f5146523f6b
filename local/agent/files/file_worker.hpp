#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "local/agent/connection.hpp"
#include "local/agent/context.hpp"

namespace sandgate::agent {

bool is_file_operation(std::string_view operation);

// Serves the connection from a child process that first becomes the requested user. The kernel then
// checks its access as the user's, and it may block. Throws Error: unavailable when there are too
// many workers (64; for watches 32), quota_exceeded at the sandbox's limit of processes.
void start_file_worker(Context& context, Connection& connection, const nlohmann::json& request);

}  // namespace sandgate::agent
