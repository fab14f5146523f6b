#pragma once
#include <cstdint>
#include <string>

#include "gateway/core/fd.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// The names and ids of a machine that one node uses exclusively: the name of its control groups and
// its span of user ids. A node removes unknown sandboxes from both when it starts, so two nodes
// with the same share would end each other's sandboxes.
struct MachineShare {
  std::string name;
  uint32_t id_base = 0;
  Fd claim;  // a lock, held while the node runs; the share stays claimed while it has sandboxes
};

// Claims the configured name and span, or the next that no other node of this machine has claimed.
// A restarted node gets the share that it had with these settings. Claims are files below
// `directory`, which is made if needed. Throws Error(no_capacity) when all spans are claimed,
// StepError when a claim cannot be written.
MachineShare claim_share(const NodeSettings& settings,
                         const std::string& directory = "/run/sandgate-nodes");

}  // namespace sandgate
