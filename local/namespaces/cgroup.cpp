#include "local/namespaces/cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "gateway/core/files.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

class NoCgroups : public CgroupTree {
 public:
  CgroupSupport support() const override {
    CgroupSupport none;
    none.detail = "no control group hierarchy with cpu, memory and pids can be used";
    return none;
  }
  CgroupEntry create(const std::string&, const Resources&) override { return {}; }
  CgroupUsage usage(const std::vector<std::string>&) const override { return {}; }
  int64_t cpu_micros(const std::vector<std::string>&) const override { return 0; }
  std::vector<std::string> list() const override { return {}; }
  std::vector<std::string> directories_of(const std::string&) const override { return {}; }
  void remove_if_empty() override {}
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

struct OwnGroup {
  std::vector<std::string> controllers;  // empty: v2
  std::string path;
};

std::vector<OwnGroup> parse_own(const std::string& text) {
  std::vector<OwnGroup> groups;
  for (const std::string& line : split(text, '\n')) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    groups.push_back(
        {split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return groups;
}

// The directory of group `path` in a hierarchy whose group `root` is mounted at `point`.
std::string directory_in(const std::string& root, const std::string& point,
                         const std::string& path) {
  std::string below = path;
  if (root != "/" && below.rfind(root, 0) == 0) below = below.substr(root.size());
  return below.empty() || below == "/" ? point : point + below;
}

void kill_group_members(const std::string& directory) {
  if (access((directory + "/cgroup.kill").c_str(), W_OK) == 0) {
    const Fd file(open((directory + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    (void)!write(file.get(), "1", 1);  // fails when the group goes away in between
    return;
  }
  kill_in_cgroup(directory, cgroup_processes(directory));
}

bool remove_cgroup(const std::string& directory) {
  using namespace std::chrono_literals;
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (rmdir(directory.c_str()) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY) return false;
    kill_group_members(directory);
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(const std::string& mountinfo,
                                             const std::string& cgroups) {
  std::vector<CgroupMount> mounts;
  std::vector<OwnGroup> own = parse_own(cgroups);
  for (const std::string& line : split(mountinfo, '\n')) {
    size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::vector<std::string> left = split(line.substr(0, dash), ' ');
    std::vector<std::string> right = split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    bool v2 = right[0] == "cgroup2";
    if (!v2 && right[0] != "cgroup") continue;
    std::vector<std::string> options = split(right[2], ',');
    for (const OwnGroup& group : own) {
      bool here =
          v2 ? group.controllers.empty()
             : !group.controllers.empty() &&
                   std::find(options.begin(), options.end(), group.controllers[0]) != options.end();
      if (!here) continue;
      mounts.push_back(
          {v2, group.controllers, directory_in(left[3], left[4], group.path), left[4]});
    }
  }
  return mounts;
}

std::vector<CgroupMount> own_cgroup_mounts() {
  return parse_cgroup_mounts(read_text_file("/proc/self/mountinfo").value_or(""),
                             read_text_file("/proc/self/cgroup").value_or(""));
}

OwnedCgroupTree open_cgroup_tree(const std::string& name, const DiskSpeed& speed) {
  std::unique_ptr<CgroupTree> tree = open_cgroup_v2(name, speed);
  if (!tree) tree = open_cgroup_v1(name, speed);
  if (!tree) tree = std::make_unique<NoCgroups>();
  return OwnedCgroupTree(tree.release());
}

bool swap_is_limited(const std::string& file, const char* swaps) {
  if (access(file.c_str(), W_OK) == 0) return true;
  std::ifstream in(swaps);
  std::string line;
  std::getline(in, line);  // column titles
  return !std::getline(in, line);
}

bool remove_cgroups(const std::vector<std::string>& directories) {
  bool all = true;
  thaw(directories);  // frozen processes do not die (version 1)
  for (const std::string& directory : directories) all = remove_cgroup(directory) && all;
  return all;
}

void lift_cpu_limit(const std::vector<std::string>& directories) noexcept {
  for (const std::string& directory : directories) {
    if (try_cgroup_file(directory, "cpu.cfs_quota_us", "-1")) return;
    if (try_cgroup_file(directory, "cpu.max", "max")) return;
  }
}

// The kernel forgets what a group owes when any part of its limit is written. These parts always
// have their default, and the quota, which lift_cpu_limit() may write meanwhile, is left alone.
void renew_cpu_limit(const std::vector<std::string>& directories) noexcept {
  for (const std::string& directory : directories) {
    if (try_cgroup_file(directory, "cpu.cfs_period_us", "100000")) return;
    if (try_cgroup_file(directory, "cpu.max.burst", "0")) return;
  }
}

int64_t cpu_weight(const Resources& resources, int64_t whole, int64_t most) {
  constexpr int64_t kMinShare = 2;  // the minimum of version 1
  return std::clamp(resources.milli_vcpu * whole / 1000, kMinShare, most);
}

bool try_cgroup_file(const std::string& directory, const char* file, const std::string& text) {
  std::string path = directory + "/" + file;
  Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text.data(), text.size()) >= 0;
}

void write_cgroup_file(const std::string& directory, const char* file, const std::string& text) {
  if (!try_cgroup_file(directory, file, text)) throw StepError(std::string("write ") + file, errno);
}

std::string read_cgroup_file(const std::string& directory, const char* file) {
  return read_text_file(directory + "/" + file).value_or("");
}

int64_t read_cgroup_number(const std::string& directory, const char* file) {
  std::string text = read_cgroup_file(directory, file);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int64_t read_cgroup_counter(const std::string& directory, const char* file, std::string_view key) {
  const Fd counter(open((directory + "/" + file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!counter) return errno == ENOENT ? 0 : -1;
  std::array<char, 4096> text{};
  const ssize_t length = read(counter.get(), text.data(), text.size());
  if (length <= 0) return -1;
  if (!key.empty()) return stat_value(std::string(text.data(), length), key);
  int64_t value = -1;
  std::from_chars(text.data(), text.data() + length, value);
  return value;
}

std::set<pid_t> cgroup_processes(const std::string& directory) {
  std::set<pid_t> processes;
  std::istringstream list(read_cgroup_file(directory, "cgroup.procs"));
  for (pid_t pid = 0; list >> pid;)
    if (pid > 0) processes.insert(pid);
  return processes;
}

void kill_in_cgroup(const std::string& directory, const std::set<pid_t>& processes) {
  constexpr size_t kAtOnce = 256;  // descriptors
  for (auto next = processes.begin(); next != processes.end();) {
    std::map<pid_t, Fd> open;
    for (; next != processes.end() && open.size() < kAtOnce; ++next) {
      Fd process = open_pidfd(*next);
      if (process) open.emplace(*next, std::move(process));
    }
    const std::set<pid_t> members = cgroup_processes(directory);
    for (const auto& [pid, process] : open)
      if (members.contains(pid)) kill_by_pidfd(process);
  }
}

int64_t stat_value(const std::string& text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    if (line.size() <= key.size() + 1 || line.compare(0, key.size(), key) != 0) continue;
    if (line[key.size()] == ' ') return std::strtoll(line.c_str() + key.size(), nullptr, 10);
  }
  return 0;
}

}  // namespace sandgate
