#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// The result of one check of `sandgate doctor`.
struct ProbeResult {
  std::string name;
  bool ok = false;
  std::string detail;  // what was found
  std::string fix;  // a command or setting that helps; may be empty
  bool required = false;  // without it the local provider cannot run at all
};

Json to_json(const ProbeResult& result);

// Checks by trying which features this machine offers to sandboxes. Leaves nothing behind.
std::vector<ProbeResult> probe_machine(const NodeSettings& settings);

// Throws Error(unavailable) that names the first missing feature required by all sandboxes, and its
// remedy.
void require_machine(const NodeSettings& settings);

}  // namespace sandgate
