#pragma once
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Whether an isolation measure is to be applied. Always true in the product. A launcher compiled
// with SANDGATE_WEAK_WALLS can leave measures out, to prove that each attack then succeeds.
#ifdef SANDGATE_WEAK_WALLS
bool is_applied(const LaunchSpec& spec, const char* measure);
#else
constexpr bool is_applied(const LaunchSpec&, const char*) { return true; }
#endif

}  // namespace sandgate
