#pragma once
#include <map>
#include <optional>
#include <string>

#include "local/namespaces/cgroup.hpp"
#include "local/node/machine/slab_growth.hpp"
#include "local/node/supervisor/sandbox_table.hpp"
#include "local/node/watch/memory_monitor.hpp"

namespace sandgate {

// Limits what a sandbox holds through descriptors beside its memory limit, and the epoll items by
// which it could hold up others. Ends the programs of whoever holds too much.
class DescriptorWatch {
 public:
  // Both must outlive it.
  DescriptorWatch(const SandboxTable& table, const CgroupTree& cgroups);

 private:
  struct Scan {
    int64_t cpu_micros = 0;  // that the sandbox had used by then; not positive: unknown
    int hiding = 0;  // looks in a row, this included, at which it may have held more than was seen
  };
  using Scans = std::map<std::string, Scan>;  // by sandbox
  enum class Suspects { all, with_epoll_items };  // the latter: who can have too many of them

  bool has_grown();  // the machine's kernel memory, or its locks of files
  void look();
  // `machine_items`: how many epoll items all programs of the machine have at most.
  void enforce_limits(Scans& last, int64_t machine_items, Suspects suspects);
  // `most_items`: how many of them this sandbox has at most. Takes and returns `hiding`.
  int scan(const JournalRecord& listed, Suspects suspects, int64_t most_items, int hiding);

  const SandboxTable& table_;
  const CgroupTree& cgroups_;
  SlabGrowth growth_;
  LockGrowth locks_;
  Scans of_all_, of_some_;
  std::optional<MemoryMonitor> monitor_;  // last: its thread uses the other members
};

}  // namespace sandgate
