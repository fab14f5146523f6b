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

// One line of `sandgate doctor`.
struct ProbeResult {
  std::string name;
  bool ok = false;
  bool required = false;  // without it the local provider cannot run at all
  std::string detail;  // what was found
  std::string fix;  // the command or setting that helps; empty when ok
};

Json to_json(const ProbeResult& result);
ProbeResult probe_result_from(const Json& json);

// What this machine offers to sandboxes, found by trying. Leaves nothing behind.
std::vector<ProbeResult> probe_machine(const NodeSettings& settings);

// Throws Error(unavailable) that names the first thing no sandbox can do without, and the remedy.
void require_machine(const NodeSettings& settings);

// What a running node really enforces.
struct Capabilities {
  CgroupSupport cgroups;
  DiskKind disk = DiskKind::loop;
  bool workspaces = false;  // the settings name some
  std::string no_egress;  // why sandboxes have no way out; empty: they may have one
  std::string disk_speed_lacks;  // of the limits of disk speed; empty: they hold
  int landlock_abi = 0;
  bool single_id = false;  // the node runs as an ordinary account
  int64_t max_milli_vcpu = 0, max_memory_mib = 0, max_disk_gib = 0;
  std::vector<std::string> notes;

  bool can_pause() const { return cgroups.freezer; }
  // A disk is copied while nothing writes to it.
  bool can_snapshot() const { return cgroups.freezer && disk == DiskKind::loop; }
};

// Limits of the machine where the settings leave them open; cgroups as given.
Capabilities machine_capabilities(const NodeSettings& settings, const CgroupSupport& cgroups);

// Without images: those change while the node runs.
Descriptor describe(const Capabilities& capabilities);

}  // namespace sandgate
