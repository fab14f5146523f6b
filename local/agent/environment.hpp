#pragma once
#include <map>
#include <string>
#include <vector>

#include "local/agent/identity.hpp"

namespace sandgate {
class ObjectReader;
class Problems;
}  // namespace sandgate

namespace sandgate::agent {

constexpr size_t kMaxEnvironment = 128 * 1024;  // bytes of names and values together

// The member "env": names without '=', bounded together.
std::map<std::string, std::string> read_environment(ObjectReader& reader, Problems& problems);

// "NAME=value" for a program: defaults of the account, then the sandbox's, then the command's own.
std::vector<std::string> environment_of(const Identity& identity, bool terminal,
                                        const std::map<std::string, std::string>& sandbox,
                                        const std::map<std::string, std::string>& command);

}  // namespace sandgate::agent
