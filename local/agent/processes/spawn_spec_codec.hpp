#pragma once
#include <string>
#include <string_view>

#include "local/agent/processes/spawn.hpp"

namespace sandgate::agent {

// A SpawnSpec as bytes, for a child that was forked before its program was known. Without
// `terminal`, which such a child cannot have.
std::string encode(const SpawnSpec& spec);
// Throws Error(internal) when the bytes are not what encode() wrote.
SpawnSpec decode(std::string_view bytes);

}  // namespace sandgate::agent
