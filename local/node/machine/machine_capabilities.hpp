#pragma once
#include <string>
#include <vector>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/launch_spec.hpp"
#include "local/node/settings.hpp"
#include "providers/descriptor.hpp"

namespace sandgate {

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

// Why the speed of sandboxes' disks is not fully limited, so that one could slow all others; empty:
// it is.
std::string disk_speed_lacks(const NodeSettings& settings, const CgroupSupport& support);

// Returns the local provider's descriptor without images, which change while the node runs.
Descriptor describe(const Capabilities& capabilities);

}  // namespace sandgate
