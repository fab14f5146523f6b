#pragma once
#include <vector>

#include "providers/descriptor.hpp"
#include "registry/profile.hpp"

namespace sandgate {

// The capabilities that a gateway as a whole offers for one profile: those common to all the
// deployments, with the regions of each, restricted to the profile. Not for an empty list. Pure.
Descriptor gateway_descriptor(const Profile& profile, const std::vector<Descriptor>& deployments);

}  // namespace sandgate
