#pragma once
#include <memory>
#include <string>
#include <vector>

#include "local/namespaces/disk_speed.hpp"
#include "local/namespaces/fd.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// Which limits this machine can really enforce, found by trying.
struct CgroupSupport {
  int version = 0;  // 0: none usable
  bool cpu = false, memory = false, processes = false;
  bool freezer = false;  // processes can be stopped where they stand
  bool swap = false;  // swap is limited too, or the machine has none to use
  std::string detail;  // where, or why not
  bool disk_reads = false, disk_writes = false;  // how fast a sandbox does these
};

// A sandbox's control groups, made and limited before its first process exists.
struct CgroupEntry {
  std::vector<std::string> directories;  // to remove at the end, also by a later node
  std::vector<Fd> fds;  // how a process enters, as LaunchFd says
};

struct CgroupUsage {
  int64_t cpu_micros = 0, memory_bytes = 0, processes = 0;
};

// The control groups of one node's sandboxes, all below one parent group. Thread-safe.
// Failures are StepError.
class CgroupTree {
 public:
  virtual ~CgroupTree() = default;
  virtual CgroupSupport support() const = 0;
  virtual CgroupEntry create(const std::string& id, const Resources& resources) = 0;
  virtual CgroupUsage usage(const std::vector<std::string>& directories) const = 0;
  virtual int64_t cpu_micros(const std::vector<std::string>& directories) const = 0;  // of usage()
  // Bytes that TCP buffers hold beyond what the group may: the kernel lets every connection have a
  // page or two whatever the limit says. 0 where they count as the group's memory.
  virtual int64_t tcp_excess(const std::vector<std::string>&) const { return 0; }
  // Ids that have a group, living or left behind.
  virtual std::vector<std::string> list() const = 0;
  virtual std::vector<std::string> directories_of(const std::string& id) const = 0;
  // Takes the parent group away when no sandbox has one below it; nothing may be created after.
  virtual void remove_if_empty() = 0;
};

// Takes the parent group away with the tree, also from a start that fails.
struct CgroupTreeEnd {
  void operator()(CgroupTree* tree) const {
    tree->remove_if_empty();
    delete tree;
  }
};
using OwnedCgroupTree = std::unique_ptr<CgroupTree, CgroupTreeEnd>;

// v2 where the node may hand out cpu, memory and pids there, else v1, else a tree that limits
// nothing and says why. `name` is the parent group's, one per node. `speed` holds for each
// sandbox, where the machine can enforce it.
OwnedCgroupTree open_cgroup_tree(const std::string& name, const DiskSpeed& speed);
// Null: not usable.
std::unique_ptr<CgroupTree> open_cgroup_v1(const std::string& name, const DiskSpeed& speed);
std::unique_ptr<CgroupTree> open_cgroup_v2(const std::string& name, const DiskSpeed& speed);

// Kills what is left inside and removes the groups; gives up after a second and returns false.
bool remove_cgroups(const std::vector<std::string>& directories);

// Where control group file systems are mounted and where the calling process is in them.
struct CgroupMount {
  bool v2 = false;
  std::vector<std::string> controllers;  // v1
  std::string own_directory;  // the caller's group
  std::string top_directory;  // the topmost group that can be seen
};
// A small file of the kernel's, whole; empty when it cannot be read.
std::string read_cgroup_file(const char* path);
// From the texts of /proc/self/mountinfo and /proc/self/cgroup.
std::vector<CgroupMount> parse_cgroup_mounts(const std::string& mountinfo,
                                             const std::string& cgroups);

// Whether there is the file by which a group's swap is limited, or no swap to use.
bool swap_is_limited(const std::string& file, const char* swaps = "/proc/swaps");

// How much a sandbox weighs where more wants to run than there are processors: as much as it has of
// them. `whole`: the weight of one processor, which is also that of a group without a word on it.
int64_t cpu_weight(const Resources& resources, int64_t whole, int64_t most);

// Small files of control groups.
void write_cgroup_file(const std::string& directory, const char* file, const std::string& text);
// Whether it was taken.
bool try_cgroup_file(const std::string& directory, const char* file, const std::string& text);
std::string read_cgroup_file(const std::string& directory, const char* file);  // "" when missing
int64_t read_cgroup_number(const std::string& directory, const char* file);  // 0 when missing
int64_t stat_value(const std::string& text, std::string_view key);  // of "key value" lines

}  // namespace sandgate
