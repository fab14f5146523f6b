#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "local/agent/connection.hpp"
#include "local/agent/context.hpp"

namespace sandgate::agent {

bool is_file_operation(std::string_view operation);

// Serves the connection from a child that first becomes the sandbox's user: what it may touch is
// what the user may touch, and it may block. Throws Error when it cannot be started.
void start_file_worker(Context& context, Connection& connection, const nlohmann::json& request);

}  // namespace sandgate::agent
