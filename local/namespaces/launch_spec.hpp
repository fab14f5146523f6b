#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sandgate {

// The only descriptors a launcher starts with. It has the last two from its zygote, kNetworkFd only
// if one waits.
enum LaunchFd : int {
  kSpecFd = 3,  // memfd, LaunchSpec as JSON
  kReportFd = 4,  // seqpacket socket to the node
  kImageFd = 5,  // O_PATH directory: the image's root
  kListenerFd = 6,  // the agent's listening unix socket
  kFilterCallsFd = 7,
  kFilterArgumentsFd = 8,
  kWorkspaceFd = 9,  // O_PATH directory of the host, or /dev/null when there is none
  kParentNetnsFd = 10,  // of make_parent_netns(), or the node's own
  kNetworkFd = 11,  // of make_network(), for this sandbox
};

enum class DiskKind { loop, memory };
enum class WorkspaceKind { none, read_only, read_write };

// The parameters of one sandbox for its launcher. Contains environment values, so it is passed in a
// memfd and never written to disk.
struct LaunchSpec {
  uint32_t id_base = 0;  // first host id of the sandbox's range
  std::string hostname = "sandbox";
  uint64_t disk_bytes = 0;  // size of the root's writable layer
  uint64_t disk_inodes = 0;
  DiskKind disk = DiskKind::loop;
  WorkspaceKind workspace = WorkspaceKind::none;  // mounted at /workspace
  uint64_t shm_bytes = 64 << 20;
  int cgroup_version = 0;  // 0: no control groups; 1; 2
  bool cpu_is_limited = false;  // by its group, so raising the agent's priority affects only it
  std::map<std::string, std::string> env;
  bool allow_root = false;
  bool awaits_owner = false;  // of the warm pool: the agent gets env and allow_root later
  std::string user = "user", home = "/home/user";
  uint32_t uid = 1000, gid = 1000;
  std::string workdir;  // where commands start; empty: the account's home
  // The node is unprivileged: only its own id is mapped, as 0, and workloads run with it.
  bool single_id = false;
};

std::string to_json_text(const LaunchSpec& spec);
LaunchSpec launch_spec_from(std::string_view json);  // throws std::exception when malformed

// A report from a launch to the node, one packet over kReportFd. The launcher sends `launching`,
// then `started` with the pidfd of the sandbox's first process (SCM_RIGHTS), whose ids are mapped
// by then; that process sends `ready` once its isolation is complete. Either sends `failed`
// instead. In the other direction the node sends what it makes meanwhile, one packet each: with
// control groups their descriptors, to the launcher (a `tasks` file for each hierarchy of version
// 1, the group's directory with version 2); after `started`, with DiskKind::loop, the mount of the
// sandbox's disk, to the first process.
struct LaunchReport {
  enum class Kind { launching, started, ready, failed } kind = Kind::failed;
  int pid = 0;  // launching: the launcher; started: in the node's pid namespace
  std::string step;  // failed: the step that failed
  int error_number = 0;
};

std::string to_json_text(const LaunchReport& report);
LaunchReport launch_report_from(std::string_view json);

}  // namespace sandgate
