#pragma once
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Whether an isolation measure (a wall) is to be applied. Always true in the product. A launcher
// compiled with SANDGATE_WEAK_WALLS can leave walls out, to prove that each attack then succeeds.
#ifdef SANDGATE_WEAK_WALLS
bool stands(const LaunchSpec& spec, const char* wall);
#else
constexpr bool stands(const LaunchSpec&, const char*) { return true; }
#endif

}  // namespace sandgate
