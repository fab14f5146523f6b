#pragma once
#include <sys/types.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace sandgate::test {

// Identifies the node whose traces are counted.
struct NodeTraces {
  std::string name, data_dir, run_dir;
  pid_t pid = -1;  // of the node; negative: it does not run
};

// Counts of the host's resources that a node's sandboxes use, to compare before and after. Mounts
// and links cannot be attributed to a node, so those of other nodes are included.
struct HostState {
  int mounts = 0, links = 0, loops = 0, cgroups = 0, processes = 0, keys = 0;
  int namespaces = 0;  // that the node holds open
  int files = 0;  // files and directories of data and journal, without images
  int64_t disk_kib = 0;  // allocated by these files

  bool operator==(const HostState&) const = default;
  // Whether no count exceeds that of `before`, except keys and files, of which some stay after the
  // first sandbox.
  bool within(const HostState& before) const;
};

HostState look_at_host(const NodeTraces& node);

// Open descriptors of a process; 0 when it is gone.
int descriptors_of(pid_t pid);

// The id_base that the node of this run directory has claimed; UINT32_MAX when it has none.
uint32_t claimed_base(const std::string& run_dir);

std::ostream& operator<<(std::ostream& out, const HostState& state);

}  // namespace sandgate::test
