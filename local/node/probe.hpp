#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/launch_spec.hpp"
#include "local/node/settings.hpp"
#include "providers/descriptor.hpp"

namespace sandgate {

// The result of one check of `sandgate doctor`.
struct ProbeResult {
  std::string name;
  bool ok = false;
  bool required = false;  // without it the local provider cannot run at all
  std::string detail;  // what was found
  std::string fix;  // a command or setting that helps; may be empty
};

Json to_json(const ProbeResult& result);
ProbeResult probe_result_from(const Json& json);

// Checks by trying which features this machine offers to sandboxes. Leaves nothing behind.
std::vector<ProbeResult> probe_machine(const NodeSettings& settings);

// Throws Error(unavailable) that names the first missing feature required by all sandboxes, and its
// remedy.
void require_machine(const NodeSettings& settings);

// The features and limits that a running node enforces.
struct Capabilities {
  CgroupSupport cgroups;
  DiskKind disk = DiskKind::loop;
  bool workspaces = false;  // the settings allow some directories
  std::string no_egress;  // why sandboxes have no egress; empty: it is supported
  std::string disk_speed_lacks;  // why disk speed is not fully limited; empty: it is
  int landlock_abi = 0;
  bool single_id = false;  // the node runs without privileges
  int64_t max_milli_vcpu = 0, max_memory_mib = 0, max_disk_gib = 0;
  std::vector<std::string> notes;

  bool can_pause() const { return cgroups.freezer; }
  // A disk can be copied only while its sandbox is frozen.
  bool can_snapshot() const { return cgroups.freezer && disk == DiskKind::loop; }
};

// Returns the capabilities of this machine with these control groups. Limits that the settings
// leave open are the machine's.
Capabilities machine_capabilities(const NodeSettings& settings, const CgroupSupport& cgroups);

// Returns the local provider's descriptor without images, which change while the node runs.
Descriptor describe(const Capabilities& capabilities);

}  // namespace sandgate
