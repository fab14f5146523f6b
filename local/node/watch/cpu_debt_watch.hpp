#pragma once
#include <map>
#include <string>

#include "local/namespaces/cgroup.hpp"
#include "local/node/supervisor/sandbox_table.hpp"
#include "local/node/watch/cpu_debt.hpp"
#include "local/node/watch/memory_monitor.hpp"

namespace sandgate {

// Lets the agents of sandboxes answer that have used more processor time than they may.
class CpuDebtWatch {
 public:
  // Both must outlive it.
  CpuDebtWatch(const SandboxTable& table, const CgroupTree& cgroups);

 private:
  void forgive();

  const SandboxTable& table_;
  const CgroupTree& cgroups_;
  std::map<std::string, CpuDebt> debts_;  // by sandbox
  MemoryMonitor monitor_;  // last: its thread uses the other members
};

}  // namespace sandgate
