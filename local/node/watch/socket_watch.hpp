#pragma once
#include "local/namespaces/cgroup.hpp"
#include "local/node/supervisor/sandbox_table.hpp"
#include "local/node/watch/memory_monitor.hpp"

namespace sandgate {

// Limits the memory that the sockets of a sandbox hold: with control groups of version 1, which do
// not enforce it well, and where the machine's limit for all sockets is near. Ends the programs of
// whoever holds too much, like the kernel's OOM killer, but all of them: each may hold little.
class SocketWatch {
 public:
  // Both must outlive it.
  SocketWatch(const SandboxTable& table, const CgroupTree& cgroups);

 private:
  void enforce_limits() const;
  void end_largest_user() const;

  const SandboxTable& table_;
  const CgroupTree& cgroups_;
  MemoryMonitor monitor_;  // last: its thread uses the other members
};

}  // namespace sandgate
