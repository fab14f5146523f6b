#pragma once
#include <string>
#include <vector>

#include "local/node/machine/probe.hpp"

namespace sandgate {

// A machine-wide kernel limit that no control group divides among sandboxes: open files, process
// numbers, threads, terminals, buffers of sockets, connections that were closed before their peer
// took everything. Each sandbox has limits of its own (memory, which also bounds open files and
// sockets; processes; terminals), so the machine's limits may be as high as possible.
// When they are low, a few sandboxes can exhaust them for all others, the gateway and the host.
class KernelLimit {
 public:
  struct Setting {
    std::string name;
    std::string sysctl;
    std::string path;
    int64_t enough;
    std::string most;  // what a value, or the first of several, below `enough` is raised to
    std::string kept_because;  // why it must not be raised; empty: it may
  };
  enum class RaiseResult { was_enough, raised, refused };

  explicit KernelLimit(Setting setting) : setting_(std::move(setting)) {}

  // Raises the limit to `most` if it is below `enough`.
  RaiseResult raise() const;
  ProbeResult probe() const;
  const std::string& sysctl() const { return setting_.sysctl; }

 private:
  const Setting setting_;
};

// All limits. `proc` is the mount point of procfs.
std::vector<KernelLimit> kernel_limits(const std::string& proc = "/proc");

// Raises all limits, as systemd does with the first two at boot, and logs those raised and refused.
void raise_kernel_limits();
std::vector<ProbeResult> probe_kernel_limits();

// Whether the machine limits the memory that all its programs together may reserve, used or not. No
// control group divides that among sandboxes.
ProbeResult probe_reserved_memory(const std::string& proc = "/proc");

}  // namespace sandgate
