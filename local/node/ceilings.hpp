#pragma once
#include <vector>

#include "local/node/probe.hpp"

namespace sandgate {

// What all programs of a machine share and no control group divides among sandboxes: open files,
// process numbers, terminals. Where they are few, some full sandboxes leave none to the others nor
// to the gateway itself. systemd sets the first two as high as they go.
std::vector<ProbeResult> probe_ceilings();

}  // namespace sandgate
