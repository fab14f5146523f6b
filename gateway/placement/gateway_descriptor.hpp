#pragma once
#include <vector>

#include "providers/descriptor.hpp"
#include "registry/profile.hpp"

namespace sandgate {

// What a gateway as a whole promises for one profile: a sandbox may come to be on any of the
// deployments, so what all of them can, and of that what the profile lets through. Not for an empty
// list. Pure.
Descriptor gateway_descriptor(const Profile& profile, const std::vector<Descriptor>& deployments);

}  // namespace sandgate
