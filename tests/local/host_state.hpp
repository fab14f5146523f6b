#pragma once
#include <sys/types.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace sandgate::test {

// Whose traces are looked for.
struct NodeTraces {
  std::string name, data_dir, run_dir;
  pid_t pid = -1;  // of the node; negative: it does not run
};

// The host's view of a node's sandboxes, to compare before and after. Of other nodes nothing is
// counted but mounts and links, which bear no owner's name.
struct HostState {
  int mounts = 0, links = 0, loops = 0, cgroups = 0, processes = 0, keys = 0;
  int namespaces = 0;  // that the node holds
  int files = 0;  // of data and journal, directories too, images not
  int64_t disk_kib = 0;  // that these files take

  bool operator==(const HostState&) const = default;
  // No more of anything than there was, but keys and files: what a first sandbox made may stay.
  bool within(const HostState& before) const;
};

HostState look_at_host(const NodeTraces& node);

// Open descriptors of a process; 0 when it is gone.
int descriptors_of(pid_t pid);

// The first id that the machine gave the node of this run directory; the highest when none.
uint32_t claimed_base(const std::string& run_dir);

std::ostream& operator<<(std::ostream& out, const HostState& state);

}  // namespace sandgate::test
