#include "local/node/machine/machine_capabilities.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <thread>

#include "local/namespaces/landlock.hpp"

namespace sandgate {
namespace {

int64_t memory_mib() {
  struct sysinfo info {};
  sysinfo(&info);
  return static_cast<int64_t>(info.totalram) * info.mem_unit >> 20;
}

void add_notes(Descriptor& descriptor, const Capabilities& capabilities) {
  const CgroupSupport& cgroups = capabilities.cgroups;
  descriptor.notes = capabilities.notes;
  if (!cgroups.cpu || !cgroups.memory || !cgroups.processes) {
    descriptor.notes.push_back("control groups: " + cgroups.detail);
  }
  if (capabilities.single_id) {
    descriptor.notes.push_back(
        "run by an ordinary account: programs inside run as its only id, without capabilities; "
        "what breaks out has that account");
  }
  if (!capabilities.disk_speed_lacks.empty())
    descriptor.notes.push_back(capabilities.disk_speed_lacks);
  if (cgroups.memory) {
    descriptor.notes.push_back("out of memory ends one process of a sandbox, not all of them");
    if (!cgroups.swap) descriptor.notes.push_back("swap is not limited on this machine");
  }
  if (!cgroups.freezer) descriptor.notes.push_back("no freezer: sandboxes cannot be paused");
  if (!capabilities.no_egress.empty()) {
    descriptor.notes.push_back("no way out: " + capabilities.no_egress);
  }
  if (capabilities.disk == DiskKind::memory) {
    descriptor.notes.push_back("disks are kept in memory and count as memory");
  }
  if (capabilities.landlock_abi < 6) {
    descriptor.notes.push_back("landlock ABI " + std::to_string(capabilities.landlock_abi) +
                               ": no scopes for abstract sockets and signals as a second net");
  }
}

}  // namespace

std::string disk_speed_lacks(const NodeSettings& settings, const CgroupSupport& support) {
  const DiskSpeed speed = disk_speed(settings);
  if (!speed.limits()) return "disk speed is not limited: by settings";
  if (speed.device.empty())
    return "disk speed is not limited: the directory of the disks lies on none that can be";
  if (!support.disk_reads) return "disk speed is not limited: no control groups for it";
  if (!support.disk_writes)
    return "disk speed is limited for reads only: control groups of version 1 do not know whose "
           "the writes are";
  return "";
}

Capabilities machine_capabilities(const NodeSettings& settings, const CgroupSupport& cgroups) {
  Capabilities capabilities;
  capabilities.cgroups = cgroups;
  capabilities.workspaces = !settings.workspaces.empty();
  capabilities.landlock_abi = landlock_abi();
  capabilities.single_id = geteuid() != 0;
  capabilities.max_milli_vcpu = settings.max_milli_vcpu != 0
                                    ? settings.max_milli_vcpu
                                    : int64_t{1000} * std::thread::hardware_concurrency();
  capabilities.max_memory_mib =
      settings.max_memory_mib != 0 ? settings.max_memory_mib : memory_mib();
  capabilities.max_disk_gib = settings.max_disk_gib;
  capabilities.disk_speed_lacks = disk_speed_lacks(settings, cgroups);
  return capabilities;
}

Descriptor describe(const Capabilities& capabilities) {
  Descriptor descriptor;
  descriptor.provider = "local";
  descriptor.isolation = Isolation::container;
  for (Verb verb : {Verb::exec, Verb::background, Verb::stdin_, Verb::signal, Verb::files,
                    Verb::archive, Verb::watch, Verb::pty, Verb::ports, Verb::metrics}) {
    descriptor.verbs[verb] = Keeps::nothing;
  }
  if (capabilities.can_pause()) descriptor.verbs[Verb::pause] = Keeps::memory;
  if (capabilities.can_snapshot()) {
    descriptor.verbs[Verb::snapshot] = descriptor.verbs[Verb::fork] = Keeps::disk;
  }
  descriptor.controls = {Control::network_deny, Control::allow_debug, Control::disk_limit};
  if (!capabilities.single_id) descriptor.controls.insert(Control::allow_root);
  if (capabilities.workspaces && !capabilities.single_id)
    descriptor.controls.insert(Control::host_workspace);
  if (capabilities.no_egress.empty())
    descriptor.controls.insert(
        {Control::network_rules, Control::network_allow, Control::secret_injection});
  const CgroupSupport& cgroups = capabilities.cgroups;
  if (cgroups.cpu) descriptor.controls.insert(Control::cpu_limit);
  if (cgroups.memory) descriptor.controls.insert(Control::memory_limit);
  if (cgroups.processes) descriptor.controls.insert(Control::process_limit);
  descriptor.limits = {capabilities.max_milli_vcpu, capabilities.max_memory_mib,
                       capabilities.max_disk_gib, 0};
  descriptor.regions = {"local"};
  add_notes(descriptor, capabilities);
  return descriptor;
}

}  // namespace sandgate
