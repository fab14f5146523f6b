#pragma once
#include <string>
#include <vector>

#include "local/fd.hpp"
#include "local/image/store.hpp"
#include "local/node/order.hpp"

namespace sandgate {

// Opens the host directory that the order names as its workspace, empty if it names none. It must
// lie in one of `allowed` (NodeSettings::workspaces). Logs one that the image's account cannot
// write although it should. Throws Error(forbidden, not_found).
Fd open_workspace(const SandboxOrder& order, const ImageConfig& config,
                  const std::vector<std::string>& allowed);

}  // namespace sandgate
