#include "local/node/machine/probe.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <boost/algorithm/string/join.hpp>

#include "local/image/store.hpp"
#include "local/namespaces/landlock.hpp"
#include "local/node/egress/egress_listeners.hpp"
#include "local/node/machine/core_dump_sockets.hpp"
#include "local/node/machine/kernel_limits.hpp"
#include "local/node/machine/machine_capabilities.hpp"
#include "local/node/machine/machine_settings.hpp"
#include "local/node/machine/module_requests.hpp"
#include "local/node/machine/mount_probe.hpp"
#include "local/node/storage/disk_space.hpp"

namespace sandgate {
namespace {

constexpr const char* kDelegate = "give the node a delegated cgroup (systemd: Delegate=yes)";

// What a node of root does to make, watch and end sandboxes.
constexpr std::pair<int, const char*> kRights[] = {
    {CAP_CHOWN, "CAP_CHOWN"},         {CAP_FOWNER, "CAP_FOWNER"},
    {CAP_KILL, "CAP_KILL"},           {CAP_SETGID, "CAP_SETGID"},
    {CAP_SETUID, "CAP_SETUID"},       {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
    {CAP_MKNOD, "CAP_MKNOD"},         {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {CAP_SETPCAP, "CAP_SETPCAP"}};

std::vector<std::string> rights_lacked() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  std::vector<std::string> names;
  if (syscall(SYS_capget, &header, data) != 0) return names;
  for (const auto& [right, name] : kRights)
    if ((data[right / 32].effective >> (right % 32) & 1) == 0) names.emplace_back(name);
  return names;
}

ProbeResult probe_root() {
  if (geteuid() != 0)
    return {"root", false,
            "an ordinary account: one account inside, disks in memory, no limits unless delegated",
            "run as root for accounts, disks and limits"};
  const auto lacks = rights_lacked();
  if (lacks.empty()) return {"root", true, "running as root", ""};
  return {"root", false, "this root lacks " + boost::algorithm::join(lacks, ", "),
          "give the container or unit all capabilities (docker run --privileged)",
          /*required=*/true};
}

// Tries it, because distributions forbid it by different settings.
ProbeResult probe_unprivileged() {
  pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  const bool ok = status == 0;
  return {"user namespaces", ok, ok ? "allowed" : "this kernel keeps them for root",
          ok ? "" : "sysctl -w kernel.unprivileged_userns_clone=1, or run as root",
          /*required=*/true};
}

// With a limit of 0 no sandbox gets a user namespace.
ProbeResult probe_user_namespaces() {
  std::ifstream in("/proc/sys/user/max_user_namespaces");
  int64_t count = 0;
  in >> count;
  bool ok = count > 0;
  return {"user namespaces", ok, "up to " + std::to_string(count),
          ok ? "" : "sysctl -w user.max_user_namespaces=65536", /*required=*/true};
}

ProbeResult probe_filesystem(const std::string& name, bool required) {
  const bool ok = can_mount(name);
  return {name, ok, ok ? "known to the kernel" : "unknown to the kernel",
          ok ? "" : "modprobe " + name, required};
}

// Only a node that runs as root id-maps images; others use their own id for all files.
ProbeResult probe_id_mapping(const NodeSettings& settings) {
  const std::string directory = images_dir(settings);
  if (geteuid() != 0)
    return {"id mapping", true, "not needed by an ordinary account", "", /*required=*/true};
  const std::string lacks = id_mapping_lacks(directory);
  if (lacks.empty()) return {"id mapping", true, "files below " + directory, "", /*required=*/true};
  return {"id mapping", false, directory + ": " + lacks,
          "put home on ext4, xfs or btrfs (in a container: on a volume), with Linux 5.19 or later",
          /*required=*/true};
}

// A device may be there and yet not for this account.
class DeviceAccess {
 public:
  explicit DeviceAccess(const char* path)
      : path_(path), there_(access(path, F_OK) == 0), ok_(access(path, R_OK | W_OK) == 0) {}
  bool is_there() const { return there_; }
  bool ok() const { return ok_; }
  std::string lacks() const { return there_ ? "no permission for " + path_ : "no " + path_; }

 private:
  std::string path_;
  bool there_, ok_;
};

ProbeResult probe_loop() {
  const DeviceAccess device("/dev/loop-control");
  return {"loop devices", device.ok(),
          device.ok() ? "/dev/loop-control"
                      : device.lacks() + ": disks are kept in memory and count as memory",
          device.ok()         ? ""
          : device.is_there() ? "run as root"
                              : "modprobe loop"};
}

ProbeResult probe_landlock() {
  int abi = landlock_abi();
  return {"landlock", abi > 0, abi > 0 ? "ABI " + std::to_string(abi) : "not in this kernel",
          abi > 0 ? "" : "boot with landlock in the lsm= list"};
}

ProbeResult probe_seccomp() {
  const scmp_version* version = seccomp_version();
  bool ok = access("/proc/sys/kernel/seccomp/actions_avail", R_OK) == 0;
  return {"seccomp", ok,
          "libseccomp " + std::to_string(version->major) + "." + std::to_string(version->minor),
          ok ? "" : "use a kernel with CONFIG_SECCOMP_FILTER", /*required=*/true};
}

CgroupSupport try_cgroups(const NodeSettings& settings) {
  // A name of its own, so that the groups of a running node are left alone.
  const std::string name = "sandgate-" + settings.name + "-" + std::to_string(getpid());
  const auto tree = open_cgroup_tree(name, disk_speed(settings));
  return tree->support();
}

ProbeResult probe_cgroups(const CgroupSupport& support) {
  bool ok = support.cpu && support.memory && support.processes;
  return {"control groups", ok,
          ok ? support.detail : support.detail + "; every profile needs their limits",
          ok ? "" : kDelegate, /*required=*/true};
}

ProbeResult probe_disk_speed(const NodeSettings& settings, const CgroupSupport& support) {
  const std::string lacks = disk_speed_lacks(settings, support);
  const DiskSpeed speed = disk_speed(settings);
  return {"disk speed limits", lacks.empty(),
          lacks.empty() ? "a sandbox: " + io_max_of(speed) : lacks,
          lacks.empty() || !speed.limits() ? ""
          : speed.device.empty()           ? "put home on a file system of a disk"
          : support.version == 1           ? "boot with control groups of version 2"
                                           : kDelegate};
}

ProbeResult probe_disk_space(const NodeSettings& settings) {
  const auto seen = DiskSpace(settings.data_dir, settings.disk_floor_mib).status();
  if (!seen) return {"disk space", true, "cannot be seen from here", ""};
  const bool ok = seen->free_bytes >= seen->floor_bytes;
  const std::string detail = std::to_string(seen->free_bytes >> 20) + " MiB free below " +
                             settings.data_dir + ", " + std::to_string(seen->floor_bytes >> 20) +
                             " of them kept";
  return {"disk space", ok, ok ? detail : detail + ": no sandboxes are made",
          ok ? "" : "end sandboxes, remove snapshots and images, or enlarge the disk"};
}

ProbeResult probe_program(const char* name, const char* package) {
  const char* path = getenv("PATH");
  std::string found;
  std::istringstream directories(path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
  for (std::string directory; found.empty() && std::getline(directories, directory, ':');) {
    if (access((directory + "/" + name).c_str(), X_OK) == 0) found = directory + "/" + name;
  }
  return {name, !found.empty(), found.empty() ? "not installed" : found,
          found.empty() ? std::string("apt-get install ") + package : ""};
}

ProbeResult probe_images(const NodeSettings& settings) {
  const std::string directory = images_dir(settings);
  const char* const make_one = "sandgate image build debian-12";
  if (access((directory + "/names").c_str(), R_OK) != 0)
    return {"images", false, "none to be seen in " + directory, make_one};
  try {
    const ImageStore store(directory);
    const std::vector<std::string> broken = store.broken();
    const size_t found = store.list().size();
    const std::string count = std::to_string(found) + " in " + directory;
    if (found == 0 && broken.empty()) return {"images", false, count, make_one};
    if (broken.empty()) return {"images", true, count, ""};
    return {"images", false, count + "; broken: " + boost::algorithm::join(broken, ", "),
            "sandgate image remove " + broken.front() + ", and make it again"};
  } catch (const std::exception& failed) {
    return {"images", false, failed.what(), "look at " + directory};
  }
}

ProbeResult probe_egress() {
  const std::string missing = try_egress_listeners();
  if (missing.empty()) return {"egress", true, "rules by name, transparent", ""};
  return {"egress", false, missing + ": sandboxes reach nothing",
          geteuid() == 0 ? "use Linux 5.9 or later with CONFIG_BPF_SYSCALL and CONFIG_IPV6"
                         : "run as root"};
}

}  // namespace

Json to_json(const ProbeResult& result) {
  return {{"name", result.name},
          {"ok", result.ok},
          {"required", result.required},
          {"detail", result.detail},
          {"fix", result.fix}};
}

std::vector<ProbeResult> probe_machine(const NodeSettings& settings) {
  const CgroupSupport cgroups = try_cgroups(settings);
  std::vector<ProbeResult> results = {
      probe_root(),
      geteuid() == 0 ? probe_user_namespaces() : probe_unprivileged(),
      probe_filesystem("overlay", /*required=*/true),
      probe_filesystem("ext4", /*required=*/false),
      probe_id_mapping(settings),
      probe_loop(),
      probe_cgroups(cgroups),
      probe_seccomp(),
      probe_landlock(),
      probe_egress(),
      probe_images(settings),
      probe_program("mkfs.ext4", "e2fsprogs"),
      probe_program("mmdebstrap", "mmdebstrap"),
      probe_program("skopeo", "skopeo"),
      probe_disk_space(settings),
      probe_disk_speed(settings, cgroups)};
  std::ranges::move(probe_kernel_limits(), std::back_inserter(results));
  results.push_back(probe_reserved_memory());
  std::ranges::move(probe_machine_settings(), std::back_inserter(results));
  results.push_back(probe_module_requests());
  results.push_back(probe_core_dump_sockets());
  return results;
}

void require_machine(const NodeSettings& settings) {
  for (const ProbeResult& one :
       {probe_root(), geteuid() == 0 ? probe_user_namespaces() : probe_unprivileged(),
        probe_filesystem("overlay", /*required=*/true), probe_id_mapping(settings),
        probe_seccomp()}) {
    if (one.ok || !one.required) continue;
    throw Error(ErrorCode::unavailable, "this machine cannot run sandboxes: " + one.name + ": " +
                                            one.detail + ": " + one.fix +
                                            ", or set local.enabled to false");
  }
}

}  // namespace sandgate
