#pragma once
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "local/image/store.hpp"
#include "local/node/server/sandbox_request.hpp"

namespace sandgate {

// Opens the host directory that the request names as its workspace, empty if it names none. It must
// lie in one of `allowed` (NodeSettings::workspaces). Logs one that the image's account cannot
// write although it should. Throws Error(forbidden, not_found).
Fd open_workspace(const SandboxRequest& request, const ImageConfig& config,
                  const std::vector<std::string>& allowed);

}  // namespace sandgate
