#pragma once
#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "local/namespaces/disk_speed.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// The limits that this machine can enforce, found by trying.
struct CgroupSupport {
  int version = 0;  // 0: no hierarchy is usable
  bool cpu = false, memory = false, processes = false;
  bool freezer = false;  // processes can be frozen
  bool swap = false;  // swap is limited as well, or the machine has none
  std::string detail;  // where the groups are, or why there are none
  bool disk_reads = false, disk_writes = false;  // the speed of these can be limited
};

// A sandbox's control groups, created with their limits before its first process exists.
struct CgroupEntry {
  std::vector<std::string> directories;  // for remove_cgroups(), possibly by a restarted node
  std::vector<Fd> fds;  // by which a process enters the groups, see LaunchFd::kFirstCgroup
};

struct CgroupUsage {
  int64_t cpu_micros = 0, memory_bytes = 0, processes = 0;
};

struct SocketUsage {
  int64_t held = 0, limit = 0;
  int64_t excess() const { return limit > 0 && held > limit ? held - limit : 0; }
};

// The tree of control groups of a node's sandboxes, all below one parent group. Thread-safe.
// Failures throw StepError.
class CgroupTree {
 public:
  virtual ~CgroupTree() = default;
  virtual CgroupSupport support() const = 0;
  virtual CgroupEntry create(const std::string& id, const Resources& resources) = 0;
  virtual CgroupUsage usage(const std::vector<std::string>& directories) const = 0;
  // Of usage(): since the start; negative when the counter is there and cannot be read now.
  virtual int64_t cpu_micros(const std::vector<std::string>& directories) const = 0;
  // Bytes of kernel memory for which a group is charged: all with version 1, that of unreclaimable
  // objects with version 2. 0: unknown.
  virtual int64_t kernel_bytes(const std::vector<std::string>&) const { return 0; }
  // Bytes of buffers that the group's sockets hold, and its limit for them, 0 without one (version
  // 2, where they count as the group's memory). The kernel grants every connection a page or two
  // regardless of the limit.
  virtual SocketUsage socket_usage(const std::vector<std::string>&) const { return {}; }
  // Bytes of unreclaimable kernel objects for which all groups together are charged, no more than
  // that; 0 where it is unknown (version 1).
  virtual int64_t charged_slab() const { return 0; }
  // Ids that have a group, also those of sandboxes that have ended.
  virtual std::vector<std::string> list() const = 0;
  virtual std::vector<std::string> directories_of(const std::string& id) const = 0;
  // Removes the parent group unless sandboxes still have groups below it. No create() may follow.
  virtual void remove_if_empty() = 0;
};

// Deleter that removes the parent group with the tree, also when the node's start fails.
struct CgroupTreeDeleter {
  void operator()(CgroupTree* tree) const {
    tree->remove_if_empty();
    delete tree;
  }
};
using OwnedCgroupTree = std::unique_ptr<CgroupTree, CgroupTreeDeleter>;

// Opens a version 2 tree if the node can delegate cpu, memory and pids there, else version 1, else
// a tree without limits whose support() says why. `name` is the parent group's name, one per node.
// `speed` limits each sandbox where the machine can enforce it.
OwnedCgroupTree open_cgroup_tree(const std::string& name, const DiskSpeed& speed);
// Return null when that version is not usable.
std::unique_ptr<CgroupTree> open_cgroup_v1(const std::string& name, const DiskSpeed& speed);
std::unique_ptr<CgroupTree> open_cgroup_v2(const std::string& name, const DiskSpeed& speed);

// Kills the remaining processes of the groups and removes the groups. Returns false when one could
// not be removed; waits at most about a second for each.
bool remove_cgroups(const std::vector<std::string>& directories);

// Ends the groups' limit on processors, so that processes which are being killed die at once. They
// must not run any more of the tenant's programs. Does nothing for groups that are gone.
void lift_cpu_limit(const std::vector<std::string>& directories) noexcept;

// Lets the processes of the groups run again if they have used up what their limit on processors
// grants; the limit stays, lifted or not. Does nothing for groups that are gone, and with version 2
// before Linux 5.14.
void renew_cpu_limit(const std::vector<std::string>& directories) noexcept;

// A mounted control group hierarchy and the calling process's position in it.
struct CgroupMount {
  bool v2 = false;
  std::vector<std::string> controllers;  // v1
  std::string own_directory;  // the caller's group
  std::string top_directory;  // the topmost visible group
};
// Parses the texts of /proc/self/mountinfo and /proc/self/cgroup.
std::vector<CgroupMount> parse_cgroup_mounts(const std::string& mountinfo,
                                             const std::string& cgroups);
std::vector<CgroupMount> own_cgroup_mounts();  // from the calling process's files

// Whether `file`, which limits a group's swap, is writable, or the machine has no swap.
bool swap_is_limited(const std::string& file, const char* swaps = "/proc/swaps");

// A sandbox's CPU weight under contention, proportional to its share of processors. `whole` is the
// weight of one processor, which is also the kernel's default weight of a group.
int64_t cpu_weight(const Resources& resources, int64_t whole, int64_t most);

// Access to a group's control files. Throws StepError when the kernel refuses the text.
void write_cgroup_file(const std::string& directory, const char* file, const std::string& text);
// Returns false when the kernel refuses the text.
bool try_cgroup_file(const std::string& directory, const char* file, const std::string& text);
std::string read_cgroup_file(const std::string& directory, const char* file);  // "" when missing
int64_t read_cgroup_number(const std::string& directory, const char* file);  // 0 when missing
// Likewise for a number that somebody is charged for: negative when the file is there and cannot be
// read now, as without a free descriptor. `key`: that of its line; empty: it is alone in the file.
int64_t read_cgroup_counter(const std::string& directory, const char* file,
                            std::string_view key = {});
// The processes of a group that are visible here; others are listed as 0 and left out.
std::set<pid_t> cgroup_processes(const std::string& directory);
// Kills those of the processes that are still in the group, and nobody who got one of their numbers
// meanwhile: membership is checked again once a pidfd holds the number.
void kill_in_cgroup(const std::string& directory, const std::set<pid_t>& processes);
int64_t stat_value(const std::string& text, std::string_view key);  // of "key value" lines

}  // namespace sandgate
