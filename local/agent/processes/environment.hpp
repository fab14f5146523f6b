#pragma once
#include <map>
#include <string>
#include <vector>

#include "local/agent/processes/identity.hpp"

namespace sandgate {
class ObjectReader;
class Problems;
}  // namespace sandgate

namespace sandgate::agent {

constexpr size_t kMaxEnvironment = 128 * 1024;  // bytes of names and values together

// Reads the member "env"; adds a problem for an empty name, a name with '=' or NUL, a
// variable that Linux gives to no program, or an environment above kMaxEnvironment.
std::map<std::string, std::string> read_environment(ObjectReader& reader, Problems& problems);

// A program's environment as "NAME=value". The command's variables override the sandbox's, which
// override defaults from the account.
std::vector<std::string> environment_of(const Identity& identity, bool terminal,
                                        const std::map<std::string, std::string>& sandbox,
                                        const std::map<std::string, std::string>& command);

}  // namespace sandgate::agent
