#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string one; words >> one;) {
    if (one == word) return true;
  }
  return false;
}

class CgroupV2 : public CgroupTree {
 public:
  CgroupV2(std::string parent, CgroupSupport support, DiskSpeed speed)
      : parent_(std::move(parent)), support_(std::move(support)), speed_(std::move(speed)) {}

  CgroupSupport support() const override { return support_; }

  CgroupEntry create(const std::string& id, const Resources& resources) override {
    std::string directory = parent_ + "/" + id;
    if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
      throw StepError("make control group", errno);
    }
    CgroupEntry entry;
    entry.directories.push_back(directory);
    try {
      limit(directory, resources);
      entry.fds.push_back(check_fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                   "open control group"));
      return entry;
    } catch (const StepError&) {
      remove_cgroups(entry.directories);
      throw;
    }
  }

  CgroupUsage usage(const std::vector<std::string>& directories) const override {
    if (directories.empty()) return {};
    const std::string& directory = directories.front();
    int64_t inactive = stat_value(read_cgroup_file(directory, "memory.stat"), "inactive_file");
    return {cpu_micros(directories),
            std::max<int64_t>(0, read_cgroup_number(directory, "memory.current") - inactive),
            read_cgroup_number(directory, "pids.current")};
  }

  int64_t cpu_micros(const std::vector<std::string>& directories) const override {
    if (directories.empty()) return 0;
    return read_cgroup_counter(directories.front(), "cpu.stat", "usage_usec");
  }

  int64_t kernel_bytes(const std::vector<std::string>& directories) const override {
    return directories.empty() ? 0 : slab_of(directories.front());
  }

  SocketUsage socket_usage(const std::vector<std::string>& directories) const override {
    if (directories.empty()) return {};
    return {stat_value(read_cgroup_file(directories.front(), "memory.stat"), "sock"), 0};
  }

  int64_t charged_slab() const override { return slab_of(parent_); }

  std::vector<std::string> list() const override {
    std::vector<std::string> ids;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(parent_, ignored)) {
      if (entry.is_directory()) ids.push_back(entry.path().filename().string());
    }
    return ids;
  }

  std::vector<std::string> directories_of(const std::string& id) const override {
    return {parent_ + "/" + id};
  }

  // The leaf stays: the node itself is in it.
  void remove_if_empty() override { rmdir(parent_.c_str()); }

 private:
  static int64_t slab_of(const std::string& directory) {
    return stat_value(read_cgroup_file(directory, "memory.stat"), "slab_unreclaimable");
  }

  void limit(const std::string& directory, const Resources& resources) {
    write_cgroup_file(directory, "cpu.max", std::to_string(resources.milli_vcpu * 100) + " 100000");
    write_cgroup_file(directory, "cpu.weight", std::to_string(cpu_weight(resources, 100, 10000)));
    write_cgroup_file(directory, "memory.max", std::to_string(resources.memory_mib << 20));
    if (support_.swap && access((directory + "/memory.swap.max").c_str(), W_OK) == 0) {
      write_cgroup_file(directory, "memory.swap.max", "0");
    }
    write_cgroup_file(directory, "pids.max", std::to_string(resources.processes + 1));
    if (support_.disk_reads) write_cgroup_file(directory, "io.max", io_max_of(speed_));
  }

  std::string parent_;
  CgroupSupport support_;
  DiskSpeed speed_;
};

constexpr const char* kControllers = "+cpu +memory +pids";
constexpr int kMoveRounds = 16;

// Whether systemd (251 and later) delegated the group to this account (Delegate=yes in a unit of
// the account): all its processes are the unit's. Root makes its groups at the top instead, where
// sandboxes that outlive the unit do not hinder its next start.
bool is_delegated(const std::string& group) {
  char mark = 0;
  return geteuid() != 0 && getxattr(group.c_str(), "user.delegate", &mark, 1) == 1 && mark == '1';
}

// Reads the group again until it is empty, since its processes fork meanwhile.
void move_all(const std::string& from, const std::string& to) {
  for (int round = 0; round < kMoveRounds; ++round) {
    std::istringstream pids(read_cgroup_file(from, "cgroup.procs"));
    pid_t pid = 0;
    if (!(pids >> pid)) return;
    do try_cgroup_file(to, "cgroup.procs", std::to_string(pid));
    while (pids >> pid);
  }
}

// Makes the parent group and enables its controllers. A group with processes of its own cannot
// enable controllers for its children, so processes first move to a leaf: the node, and in a
// delegated group also the supervisor and its other children. The root group is exempt. Throws
// StepError when processes remain in the group.
void delegate(const std::string& own, const std::string& name) {
  if (bool root = access((own + "/cgroup.type").c_str(), F_OK) != 0; !root) {
    std::string leaf = own + "/" + name + "-node";
    if (mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) throw StepError("node's group", errno);
    write_cgroup_file(leaf, "cgroup.procs", std::to_string(getpid()));
    if (is_delegated(own)) move_all(own, leaf);
  }
  write_cgroup_file(own, "cgroup.subtree_control", kControllers);
  std::string parent = own + "/" + name;
  if (mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) throw StepError("parent group", errno);
  write_cgroup_file(parent, "cgroup.subtree_control", kControllers);
  // Without the io controller, the disk speed is not limited.
  if (try_cgroup_file(own, "cgroup.subtree_control", "+io"))
    try_cgroup_file(parent, "cgroup.subtree_control", "+io");
}

// Strips the leaf made by delegate(), in which a restarted node still is.
std::string above_leaf(std::string own, const std::string& name) {
  std::string leaf = "/" + name + "-node";
  if (own.ends_with(leaf)) own.resize(own.size() - leaf.size());
  return own;
}

bool try_delegate(const std::string& own, const std::string& name) {
  std::string available = read_cgroup_file(own, "cgroup.controllers");
  for (const char* controller : {"cpu", "memory", "pids"}) {
    if (!has_word(available, controller)) return false;
  }
  try {
    delegate(own, name);
    return true;
  } catch (const StepError&) {
    return false;
  }
}

// Some disks accept no limits, which only a write shows.
bool disk_can_be_limited(const std::string& parent, const DiskSpeed& speed) {
  return speed.limits() && !speed.device.empty() &&
         has_word(read_cgroup_file(parent, "cgroup.subtree_control"), "io") &&
         try_cgroup_file(parent, "io.max", io_max_of({.device = speed.device}));
}

}  // namespace

std::unique_ptr<CgroupTree> open_cgroup_v2(const std::string& name, const DiskSpeed& speed) {
  std::vector<CgroupMount> mounts = own_cgroup_mounts();
  for (const CgroupMount& mount : mounts) {
    if (!mount.v2) continue;
    for (const std::string& own : {above_leaf(mount.own_directory, name), mount.top_directory}) {
      if (!try_delegate(own, name)) continue;
      const std::string parent = own + "/" + name;
      const bool freezer = access((parent + "/cgroup.freeze").c_str(), W_OK) == 0;
      const bool swap = swap_is_limited(parent + "/memory.swap.max");
      CgroupSupport support{2, true, true, true, freezer, swap, "v2 below " + own};
      support.disk_reads = support.disk_writes = disk_can_be_limited(parent, speed);
      return std::make_unique<CgroupV2>(parent, support, speed);
    }
  }
  return nullptr;
}

}  // namespace sandgate
