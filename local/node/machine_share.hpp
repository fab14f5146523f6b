#pragma once
#include <cstdint>
#include <string>

#include "local/namespaces/fd.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// What of a machine is one node's alone: the name of its control groups, and its span of user ids.
// A node sweeps whatever it finds there, so two that shared them would end each other's sandboxes.
struct MachineShare {
  std::string name;
  uint32_t id_base = 0;
  Fd claim;  // held while the node runs; what is claimed stays claimed while sandboxes are left
};

// The configured name and span, or the next that no other node of this machine has; a node that
// comes back gets what it had. Claims are files below `directory`, which is made and is root's.
// Throws Error(no_capacity) when every span is taken, StepError when claims cannot be kept.
MachineShare claim_share(const NodeSettings& settings,
                         const std::string& directory = "/run/sandgate-nodes");

}  // namespace sandgate
