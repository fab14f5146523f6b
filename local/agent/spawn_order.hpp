#pragma once
#include <string>
#include <string_view>

#include "local/agent/spawn.hpp"

namespace sandgate::agent {

// A SpawnSpec as bytes, for a child that was forked before its program was known. Without
// `terminal`, which such a child cannot have.
std::string pack(const SpawnSpec& spec);
// Throws Error(internal) when the bytes are not what pack() wrote.
SpawnSpec unpack(std::string_view bytes);

}  // namespace sandgate::agent
