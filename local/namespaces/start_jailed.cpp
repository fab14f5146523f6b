// The launcher's part of starting a sandbox: the steps that need the host's privileges.
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "local/fd_passing.hpp"
#include "local/namespaces/dev.hpp"
#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/jail.hpp"
#include "local/namespaces/jail_descriptors.hpp"
#include "local/namespaces/limits.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/net.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

constexpr int kAgentNice = -20;

void hand_over(Fd fd, int place) {
  check(dup3(fd.get(), place, O_CLOEXEC), "hand over descriptor");
}

struct NewProcess {
  pid_t pid = 0;
  Fd pidfd;
};

// The kernel's per-user counts (inotify instances, queued signals, message queues) of a user
// namespace are also charged to the user that created it. If that were root for all sandboxes, one
// of them could use up the limits of the others and of the machine.
void pay_as(uid_t uid) {
  check(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0), "keep capabilities");
  check(setresuid(static_cast<uid_t>(-1), uid, static_cast<uid_t>(-1)), "namespace owner");
}

// CLONE_PARENT makes the node the parent, so that it can wait for the process after the launcher's
// exit.
NewProcess clone_into_namespaces(const LaunchSpec& spec, const std::vector<Fd>& cgroups) {
  int pidfd = -1;
  clone_args args{};
  args.flags =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_PIDFD | CLONE_PARENT | CLONE_FILES;
  if (is_applied(spec, "cgroup_names")) args.flags |= CLONE_NEWCGROUP;
  if (makes_own_network(spec)) args.flags |= CLONE_NEWNET;
  if (is_applied(spec, "ipc")) args.flags |= CLONE_NEWIPC;
  if (is_applied(spec, "uts")) args.flags |= CLONE_NEWUTS;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  if (spec.cgroup_version == 2) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroups.front().get());
  }
  // Inherited by the agent, which must get CPU time among all processes of the sandbox. The cgroup
  // limit keeps the priority from affecting others. Fails without privileges, which is accepted.
  if (spec.cpu_is_limited) setpriority(PRIO_PROCESS, 0, kAgentNice);
  // Of sandboxes that share an account each has its own limit instead, else they had one together.
  if (!spec.single_id && is_applied(spec, "limits")) limit_queued_signals();
  NewProcess made;
  const bool pays = !spec.single_id && is_applied(spec, "owner");
  if (pays) pay_as(spec.id_base);
  made.pid = static_cast<pid_t>(check(syscall(SYS_clone3, &args, sizeof args), "clone3"));
  if (made.pid == 0) return made;
  made.pidfd.reset(pidfd);
  if (pays) pay_as(0);
  return made;
}

// clone3 cannot place a process in v1 groups, so the launcher enters them and the process inherits
// them. Writing "0" to `tasks` moves only the calling thread, without the global synchronisation
// that makes moving another process take about 10 ms.
void enter_v1_cgroups(const std::vector<Fd>& cgroups) {
  for (const Fd& tasks : cgroups) check(write(tasks.get(), "0", 1), "enter control group");
}

std::vector<Fd> receive_cgroups(const LaunchSpec& spec) {
  if (spec.cgroup_version == 0) return {};
  char word[8];
  FdMessage received = receive_with_fds(kReportFd, word);
  if (received.fds.empty())
    throw StepError("receive control groups", received.size < 0 ? errno : ECHILD);
  return std::move(received.fds);
}

Fd image_layer(int user_namespace) {
  Fd image = clone_mount(kImageFd);
  idmap_mount(image.get(), user_namespace,
              MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  return image;
}

// Files that the image's account writes have the same ids on the host. No other id inside is
// mapped, root's least of all: a set-user-id program left there would run on the host as the
// account with that number.
Fd workspace_layer(const LaunchSpec& spec) {
  const Fd user_namespace = user_namespace_of_account(spec.id_base, spec.uid, spec.gid);
  Fd workspace = clone_mount(kWorkspaceFd);
  const uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  idmap_mount(
      workspace.get(), user_namespace.get(),
      spec.workspace == WorkspaceKind::read_only ? attributes | MOUNT_ATTR_RDONLY : attributes);
  return workspace;
}

// Before the sandbox's user namespace exists, which therefore does not own it.
void enter_network(const LaunchSpec& spec, Fd network) {
  if (makes_own_network(spec) || !is_applied(spec, "network")) return;
  const bool all = is_applied(spec, "socket_options") && is_applied(spec, "transmit_timestamps");
  if (!network || !all) network = make_network(spec);
  check(setns(network.get(), CLONE_NEWNET), "enter network");
}

// Starts the first process, which then waits on kGoFd. `inside` never returns.
NewProcess start_waiting(const LaunchSpec& spec, void (*inside)(const LaunchSpec&)) {
  const std::vector<Fd> cgroups = receive_cgroups(spec);
  if (spec.cgroup_version == 1) enter_v1_cgroups(cgroups);
  NewProcess child = clone_into_namespaces(spec, cgroups);
  if (child.pid != 0) return child;
  inside(spec);
  _exit(1);
}

// For an unprivileged node: no loop devices, device nodes or id-mapped mounts. The child mounts
// everything itself with the privileges of its user namespace.
NewProcess start_with_own_id(const LaunchSpec& spec, void (*inside)(const LaunchSpec&)) {
  if (spec.disk == DiskKind::loop) throw StepError("loop device", EPERM);
  check(fchdir(kImageFd), "enter image");
  NewProcess child = start_waiting(spec, inside);
  write_single_id_map(child.pid, geteuid(), getegid());
  return child;
}

NewProcess start_with_range(const LaunchSpec& spec, Fd network, void (*inside)(const LaunchSpec&)) {
  hand_over(make_dev(DevNodes::made), kDevMount);
  enter_network(spec, std::move(network));
  NewProcess child = start_waiting(spec, inside);
  write_id_maps(child.pid, spec.id_base);
  const Fd user_namespace = open_user_namespace(child.pid);
  hand_over(image_layer(user_namespace.get()), kImageMount);
  if (spec.workspace != WorkspaceKind::none) hand_over(workspace_layer(spec), kWorkspaceMount);
  return child;
}

}  // namespace

void send_report(const LaunchReport& report, int with_fd) {
  check(send_with_fd(kReportFd, to_json_text(report), with_fd), "send report");
}

void start_jailed(const LaunchSpec& spec, Fd network, void (*inside)(const LaunchSpec&)) {
  int go[2];
  check(pipe2(go, O_CLOEXEC), "go pipe");
  const Fd go_write(go[1]);
  hand_over(Fd(go[0]), kGoFd);
  Fd own = open_pidfd(getpid());
  check(own.get(), "own pidfd");
  hand_over(std::move(own), kLauncherFd);
  const NewProcess child = spec.single_id ? start_with_own_id(spec, inside)
                                          : start_with_range(spec, std::move(network), inside);
  send_report({LaunchReport::Kind::started, child.pid, "", 0}, child.pidfd.get());
  check(write(go_write.get(), "x", 1), "go");
}

}  // namespace sandgate
