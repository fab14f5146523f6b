#pragma once
#include <map>
#include <string>

#include "local/agent/client.hpp"

namespace sandgate {

// Makes programs that start with these variables trust the sandbox's own authority besides the
// image's. What was asked for wins.
void add_authority_variables(std::map<std::string, std::string>& env);

// Writes the file those variables name: the image's authorities and `certificate` (PEM).
Task<void> install_authority(AgentClient agent, std::string certificate);

}  // namespace sandgate
