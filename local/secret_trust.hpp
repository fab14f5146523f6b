#pragma once
#include <map>
#include <string>

#include "local/agent/client/client.hpp"

namespace sandgate {

// Adds variables that make programs trust the certificates in the file of install_authority().
// Existing variables are kept.
void add_authority_variables(std::map<std::string, std::string>& env);

// Writes the file that those variables name: the image's authorities and `certificate` (PEM), the
// sandbox's own authority. Throws Error as AgentClient does.
Task<void> install_authority(AgentClient agent, std::string certificate);

}  // namespace sandgate
