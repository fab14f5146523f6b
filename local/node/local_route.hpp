#pragma once
#include <string>

namespace sandgate {

// Adds or removes, in the calling thread's network namespace, the route that makes an address
// block ("198.18.0.0/15", "2001:db8::1") the namespace's own, on its loopback. Adding what is there
// and removing what is not are fine. Throws StepError.
void set_local_route(const std::string& block, bool present);

}  // namespace sandgate
