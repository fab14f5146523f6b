#pragma once
#include <string>

#include "providers/descriptor.hpp"

namespace sandgate {

// Whether the sandbox or snapshot `id` is on the machine (see LocalProvider) of another gateway
// than the one whose deployment this is.
bool is_elsewhere(const std::string& id, const std::string& backend_id, const Descriptor& here);
// Throws Error(unavailable) if it is.
void check_is_here(const std::string& id, const std::string& backend_id, const Descriptor& here);
// Whether it is on this gateway's own machine, which can be asked at any time what became of it.
bool is_on_own_machine(const std::string& id, const std::string& backend_id,
                       const Descriptor& here);

}  // namespace sandgate
