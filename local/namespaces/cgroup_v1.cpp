#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/socket_memory.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

struct V1Directories {
  // The node's parent group in each hierarchy, or "".
  std::string cpu, cpuacct, memory, pids, freezer, devices, blkio;
};

void make_group(const std::string& directory) {
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    throw StepError("make control group", errno);
  }
}

// Defence in depth behind the user namespace and nodev mounts: allows only the standard devices.
void limit_devices(const std::string& directory) {
  write_cgroup_file(directory, "devices.deny", "a");
  for (const char* device : {"c 1:3 rw", "c 1:5 rw", "c 1:7 rw", "c 1:8 rw", "c 1:9 rw", "c 5:0 rw",
                             "c 5:2 rw", "c 136:* rw"}) {
    write_cgroup_file(directory, "devices.allow", device);
  }
}

// Writes cannot be limited: version 1 does not attribute the writeback of the page cache to groups.
void limit_reads(const std::string& directory, const DiskSpeed& speed) {
  const auto limit = [&](const char* file, int64_t value) {
    if (value > 0) write_cgroup_file(directory, file, speed.device + " " + std::to_string(value));
  };
  limit("blkio.throttle.read_bps_device", speed.read_bytes);
  limit("blkio.throttle.read_iops_device", speed.operations);
}

class CgroupV1 : public CgroupTree {
 public:
  CgroupV1(V1Directories parents, CgroupSupport support, DiskSpeed speed)
      : parents_(std::move(parents)), support_(std::move(support)), speed_(std::move(speed)) {}

  CgroupSupport support() const override { return support_; }

  CgroupEntry create(const std::string& id, const Resources& resources) override {
    CgroupEntry entry;
    try {
      for (const std::string& directory : directories_of(id)) {
        make_group(directory);
        entry.directories.push_back(directory);
      }
      limit(id, resources);
      for (const std::string& directory : entry.directories) add_entry(entry, directory);
      if (!parents_.devices.empty()) add_entry(entry, parents_.devices);
      return entry;
    } catch (const StepError&) {
      remove_cgroups(entry.directories);
      throw;
    }
  }

  CgroupUsage usage(const std::vector<std::string>& directories) const override {
    CgroupUsage usage;
    usage.cpu_micros = cpu_micros(directories);
    for (const std::string& directory : directories) {
      if (int64_t bytes = read_cgroup_number(directory, "memory.usage_in_bytes"); bytes != 0) {
        std::string stat = read_cgroup_file(directory, "memory.stat");
        usage.memory_bytes = std::max<int64_t>(0, bytes - stat_value(stat, "total_inactive_file"));
      }
      usage.processes = std::max(usage.processes, read_cgroup_number(directory, "pids.current"));
    }
    return usage;
  }

  int64_t cpu_micros(const std::vector<std::string>& directories) const override {
    for (const std::string& directory : directories)
      if (const int64_t nanos = read_cgroup_counter(directory, "cpuacct.usage"); nanos != 0)
        return nanos < 0 ? nanos : nanos / 1000;
    return 0;
  }

  // The kernel counts the buffers of other protocols there, too.
  SocketUsage socket_usage(const std::vector<std::string>& directories) const override {
    for (const std::string& directory : directories) {
      const int64_t held = read_cgroup_number(directory, "memory.kmem.tcp.usage_in_bytes");
      if (held > 0) return {held, read_cgroup_number(directory, "memory.kmem.tcp.limit_in_bytes")};
    }
    return {};
  }

  int64_t kernel_bytes(const std::vector<std::string>& directories) const override {
    for (const std::string& directory : directories)
      if (const int64_t bytes = read_cgroup_number(directory, "memory.kmem.usage_in_bytes");
          bytes != 0)
        return bytes;
    return 0;
  }

  std::vector<std::string> list() const override {
    std::set<std::string> ids;
    for (const std::string& parent : all_parents()) {
      std::error_code ignored;
      for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
        if (entry.is_directory()) ids.insert(entry.path().filename().string());
      }
    }
    return {ids.begin(), ids.end()};
  }

  std::vector<std::string> directories_of(const std::string& id) const override {
    std::vector<std::string> directories;
    for (const std::string& parent : all_parents()) directories.push_back(parent + "/" + id);
    return directories;
  }

  void remove_if_empty() override {
    for (const std::string& parent : all_parents()) rmdir(parent.c_str());
    if (!parents_.devices.empty()) rmdir(parents_.devices.c_str());
  }

 private:
  std::vector<std::string> all_parents() const {
    std::vector<std::string> parents;
    for (const std::string& parent : {parents_.cpu, parents_.cpuacct, parents_.memory,
                                      parents_.pids, parents_.freezer, parents_.blkio}) {
      if (!parent.empty() && std::find(parents.begin(), parents.end(), parent) == parents.end()) {
        parents.push_back(parent);
      }
    }
    return parents;
  }

  void limit(const std::string& id, const Resources& resources) {
    if (support_.cpu) {
      write_cgroup_file(parents_.cpu + "/" + id, "cpu.cfs_quota_us",
                        std::to_string(resources.milli_vcpu * 100));
      write_cgroup_file(parents_.cpu + "/" + id, "cpu.shares",
                        std::to_string(cpu_weight(resources, 1024, 262144)));
    }
    if (support_.memory) {
      std::string directory = parents_.memory + "/" + id;
      std::string bytes = std::to_string(resources.memory_mib << 20);
      write_cgroup_file(directory, "memory.limit_in_bytes", bytes);
      if (access((directory + "/memory.memsw.limit_in_bytes").c_str(), W_OK) == 0) {
        write_cgroup_file(directory, "memory.memsw.limit_in_bytes", bytes);
      } else {
        write_cgroup_file(directory, "memory.swappiness", "0");
      }
      // The limit above does not cover TCP buffers, whose total is limited for the whole machine.
      if (access((directory + "/memory.kmem.tcp.limit_in_bytes").c_str(), W_OK) == 0) {
        write_cgroup_file(directory, "memory.kmem.tcp.limit_in_bytes",
                          std::to_string(socket_share(resources.memory_mib, most_of_tcp_)));
      }
    }
    if (support_.processes) {
      write_cgroup_file(parents_.pids + "/" + id, "pids.max",
                        std::to_string(resources.processes + 1));  // the agent is one more
    }
    if (support_.disk_reads) limit_reads(parents_.blkio + "/" + id, speed_);
  }

  static void add_entry(CgroupEntry& entry, const std::string& directory) {
    std::string path = directory + "/tasks";
    entry.fds.push_back(check_fd(open(path.c_str(), O_WRONLY | O_CLOEXEC), "open tasks"));
  }

  V1Directories parents_;
  CgroupSupport support_;
  DiskSpeed speed_;
  const int64_t most_of_tcp_ = tcp_memory().most;
};

std::string parent_for(const std::vector<CgroupMount>& mounts, const char* controller,
                       const std::string& name) {
  for (const CgroupMount& mount : mounts) {
    if (std::find(mount.controllers.begin(), mount.controllers.end(), controller) ==
        mount.controllers.end()) {
      continue;
    }
    std::string directory = mount.own_directory + "/" + name;
    if (mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST) return directory;
  }
  return "";
}

bool has_file(const std::string& directory, const char* file) {
  return !directory.empty() && access((directory + "/" + file).c_str(), W_OK) == 0;
}

bool reads_have_a_limit(const DiskSpeed& speed) {
  return !speed.device.empty() && (speed.read_bytes > 0 || speed.operations > 0);
}

// Some disks accept no limits, which only a write shows.
bool reads_can_be_limited(const std::string& blkio, const DiskSpeed& speed) {
  return !blkio.empty() &&
         try_cgroup_file(blkio, "blkio.throttle.read_bps_device", speed.device + " 0");
}

}  // namespace

std::unique_ptr<CgroupTree> open_cgroup_v1(const std::string& name, const DiskSpeed& speed) {
  std::vector<CgroupMount> mounts = own_cgroup_mounts();
  V1Directories parents{parent_for(mounts, "cpu", name),
                        parent_for(mounts, "cpuacct", name),
                        parent_for(mounts, "memory", name),
                        parent_for(mounts, "pids", name),
                        parent_for(mounts, "freezer", name),
                        parent_for(mounts, "devices", name),
                        reads_have_a_limit(speed) ? parent_for(mounts, "blkio", name) : ""};
  CgroupSupport support;
  support.version = 1;
  support.cpu = has_file(parents.cpu, "cpu.cfs_quota_us");
  support.memory = has_file(parents.memory, "memory.limit_in_bytes");
  support.processes = has_file(parents.pids, "pids.max");
  support.freezer = has_file(parents.freezer, "freezer.state");
  support.swap = support.memory && swap_is_limited(parents.memory + "/memory.memsw.limit_in_bytes");
  support.disk_reads = reads_can_be_limited(parents.blkio, speed);
  if (!support.cpu && !support.memory && !support.processes) return nullptr;
  support.detail = "v1 below " + (support.memory ? parents.memory : parents.pids);
  try {
    if (!parents.devices.empty()) limit_devices(parents.devices);
  } catch (const StepError&) {
    parents.devices.clear();  // the host forbids it; the user namespace and nodev remain
  }
  return std::make_unique<CgroupV1>(std::move(parents), std::move(support), speed);
}

}  // namespace sandgate
