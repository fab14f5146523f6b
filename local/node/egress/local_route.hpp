#pragma once
#include <string>

namespace sandgate {

// Adds or removes, in the calling thread's network namespace, a local route on the loopback that
// makes the namespace accept all addresses of a block ("198.18.0.0/15", "2001:db8::1"). Does
// nothing when the route already is, or is not, there. Throws StepError.
void add_local_route(const std::string& block);
void remove_local_route(const std::string& block);

}  // namespace sandgate
