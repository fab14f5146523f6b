#pragma once
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Whether a wall is to be built. In the product always: it is compiled without the choice. Only
// the tests' own launcher leaves walls out, to see that an attack succeeds without its wall.
#ifdef SANDGATE_WEAK_WALLS
bool stands(const LaunchSpec& spec, const char* wall);
#else
constexpr bool stands(const LaunchSpec&, const char*) { return true; }
#endif

}  // namespace sandgate
