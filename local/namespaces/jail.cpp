#include "local/namespaces/jail.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "local/namespaces/capabilities.hpp"
#include "local/namespaces/dev.hpp"
#include "local/namespaces/disk_mount.hpp"
#include "local/namespaces/fd_passing.hpp"
#include "local/namespaces/landlock.hpp"
#include "local/namespaces/limits.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/net.hpp"
#include "local/namespaces/proc.hpp"
#include "local/namespaces/seccomp_install.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"
#include "local/namespaces/wall.hpp"

namespace sandgate {
namespace {

constexpr int kAgentNice = -20;

// The launcher and its child share one descriptor table until the child has what it needs; these
// are the places where the child finds it.
enum HandOver : int {
  kGoFd = 40,
  kLauncherFd,
  kImageMount,
  kDiskMount,
  kDevMount,
  kWorkspaceMount
};

void hand_over(Fd fd, int place) {
  check(dup3(fd.get(), place, O_CLOEXEC), "hand over descriptor");
}

struct NewProcess {
  pid_t pid = 0;
  Fd pidfd;
};

// What members of a user namespace take of the kernel's per-user counts (inotify instances, queued
// signals, message queues) is also counted for its maker. Were that root for all of them, one
// sandbox could use up what the others and the machine itself need.
void pay_as(uid_t uid) {
  check(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0), "keep capabilities");
  check(setresuid(static_cast<uid_t>(-1), uid, static_cast<uid_t>(-1)), "namespace owner");
}

// CLONE_PARENT makes the node the parent, who can then wait for it when the launcher is gone.
NewProcess clone_into_namespaces(const LaunchSpec& spec) {
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWCGROUP |
               CLONE_PIDFD | CLONE_PARENT | CLONE_FILES;
  if (stands(spec, "network")) args.flags |= CLONE_NEWNET;
  if (stands(spec, "ipc")) args.flags |= CLONE_NEWIPC;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  if (spec.cgroup_version == 2) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = kFirstCgroup;
  }
  // Inherited by the agent, which must get its turn among as many processes as the sandbox may
  // have; within the sandbox's own group that costs nobody else anything. An ordinary account may
  // not.
  if (spec.cpu_is_limited) setpriority(PRIO_PROCESS, 0, kAgentNice);
  if (spec.has_nursery && stands(spec, "network")) {
    check(setns(kNurseryFd, CLONE_NEWNET), "enter nursery");
  }
  NewProcess made;
  const bool pays = !spec.single_id && stands(spec, "owner");
  if (pays) pay_as(spec.id_base);
  made.pid = static_cast<pid_t>(check(syscall(SYS_clone3, &args, sizeof args), "clone3"));
  if (made.pid == 0) return made;
  made.pidfd.reset(pidfd);
  if (pays) pay_as(0);
  return made;
}

// v1 has no way to name the group of a new process, so the launcher enters it and the process is
// born inside. Writing "0" to `tasks` moves only the calling thread, which the kernel does without
// waiting for all others; moving another process takes some 10 ms.
void enter_v1_cgroups(const LaunchSpec& spec) {
  if (spec.cgroup_version != 1) return;
  for (int i = 0; i < spec.cgroup_fds; ++i)
    check(write(kFirstCgroup + i, "0", 1), "enter control group");
}

Fd image_layer(int user_namespace) {
  Fd image = clone_mount(kImageFd);
  idmap_mount(image.get(), user_namespace,
              MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  return image;
}

// What the image's account writes inside has the same ids outside. No other account has any there,
// root and whoever it becomes least of all: a program that is left with the set-user-id bit would
// run on the host as the account there that has its number.
Fd workspace_layer(const LaunchSpec& spec) {
  const Fd user_namespace = user_namespace_of_account(spec.id_base, spec.uid, spec.gid);
  Fd workspace = clone_mount(kWorkspaceFd);
  const uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  idmap_mount(
      workspace.get(), user_namespace.get(),
      spec.workspace == WorkspaceKind::read_only ? attributes | MOUNT_ATTR_RDONLY : attributes);
  return workspace;
}

// Id-mapped, so that the image file's owners are the same whatever range its sandbox has.
Fd disk_layer(int user_namespace) {
  char word[8];
  Fd disk;
  const ssize_t got = receive_with_fd(kReportFd, word, sizeof word, disk);
  if (got <= 0 || !disk) throw StepError("receive disk", got < 0 ? errno : ECHILD);
  idmap_mount(disk.get(), user_namespace, 0);
  return disk;
}

// The launcher stands in the image's directory, and so does its child, but in its own copy of the
// mounts: the only ones it may use when it was made by an ordinary account.
Fd image_here() {
  Fd directory = check_fd(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), "open image");
  Fd image = clone_mount(directory.get());
  set_mount_attributes(image.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  return image;
}

// With a shared descriptor table the pipe of a dead launcher never ends; its pidfd tells.
void wait_for_go() {
  pollfd watched[2] = {{kGoFd, POLLIN, 0}, {kLauncherFd, POLLIN, 0}};
  char byte = 0;
  if (poll(watched, 2, -1) < 1 || (watched[0].revents & POLLIN) == 0 ||
      read(kGoFd, &byte, 1) != 1) {
    _exit(1);  // nobody waits for a report
  }
  check(unshare(CLONE_FILES), "own descriptor table");
}

// Only now: a cgroup namespace is rooted where its creator is at the time.
void settle_namespaces(const LaunchSpec& spec) {
  check(unshare(CLONE_NEWCGROUP), "cgroup namespace");
  become_inner_root(spec.single_id);
  check(sethostname(spec.hostname.data(), spec.hostname.size()), "sethostname");
  check(setdomainname("", 0), "setdomainname");
  if (!stands(spec, "network")) return;
  bring_loopback_up();
  bound_unaccepted();
}

void build_root(const LaunchSpec& spec) {
  RootLayers layers;
  layers.image = spec.single_id ? image_here() : Fd(kImageMount);
  layers.dev = spec.single_id ? make_dev(DevNodes::bound) : Fd(kDevMount);
  layers.disk = spec.disk == DiskKind::loop ? Fd(kDiskMount)
                                            : mount_memory_disk(spec.disk_bytes, spec.disk_inodes);
  if (spec.workspace != WorkspaceKind::none) layers.workspace = Fd(kWorkspaceMount);
  NewRoot root = assemble_root(spec, std::move(layers));
  mount_dev_parts(spec, root.root.get());
  mount_proc(spec, root);
  enter_root(spec, root);
}

// Standard streams of the agent lead nowhere; beyond them only the listed descriptors stay.
void close_descriptors(const LaunchSpec& spec) {
  Fd null = check_fd(open("/dev/null", O_RDWR), "open /dev/null");
  for (int fd : {0, 1, 2}) check(dup2(null.get(), fd), "standard streams");
  null.reset();
  check(close_range(kSpecFd, kSpecFd, 0), "close descriptors");
  check(close_range(kImageFd, kImageFd, 0), "close descriptors");
  if (stands(spec, "descriptors"))
    check(close_range(kFilterArgumentsFd + 1, ~0U, 0), "close descriptors");
}

// What an ordinary account can do: no loop devices, no device nodes, no id-mapped mounts. The child
// does the rest with what its user namespace gives it.
void start_with_own_id(const LaunchSpec& spec, int go, void (*inside)(const LaunchSpec&)) {
  if (spec.disk == DiskKind::loop) throw StepError("loop device", EPERM);
  check(fchdir(kImageFd), "enter image");
  enter_v1_cgroups(spec);
  NewProcess child = clone_into_namespaces(spec);
  if (child.pid == 0) {
    inside(spec);
    _exit(1);
  }
  send_report({LaunchReport::Kind::started, child.pid, "", 0}, child.pidfd.get());
  write_single_id_map(child.pid, geteuid(), getegid());
  check(write(go, "x", 1), "go");
}

}  // namespace

void send_report(const LaunchReport& report, int with_fd) {
  check(send_with_fd(kReportFd, to_json_text(report), with_fd), "send report");
}

void start_jailed(const LaunchSpec& spec, void (*inside)(const LaunchSpec&)) {
  int go[2];
  check(pipe2(go, O_CLOEXEC), "go pipe");
  Fd go_write(go[1]);
  hand_over(Fd(go[0]), kGoFd);
  hand_over(check_fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)), "own pidfd"),
            kLauncherFd);
  if (spec.single_id) return start_with_own_id(spec, go_write.get(), inside);
  hand_over(make_dev(DevNodes::made), kDevMount);
  enter_v1_cgroups(spec);
  NewProcess child = clone_into_namespaces(spec);
  if (child.pid == 0) {
    inside(spec);
    _exit(1);
  }
  send_report({LaunchReport::Kind::started, child.pid, "", 0}, child.pidfd.get());
  write_id_maps(child.pid, spec.id_base);
  Fd user_namespace = open_user_namespace(child.pid);
  hand_over(image_layer(user_namespace.get()), kImageMount);
  if (spec.workspace != WorkspaceKind::none) hand_over(workspace_layer(spec), kWorkspaceMount);
  if (spec.disk == DiskKind::loop) hand_over(disk_layer(user_namespace.get()), kDiskMount);
  check(write(go_write.get(), "x", 1), "go");
}

Fd enter_jail(const LaunchSpec& spec) {
  wait_for_go();
  settle_namespaces(spec);
  build_root(spec);
  if (stands(spec, "limits")) apply_rlimits(spec.disk_bytes);
  close_descriptors(spec);
  join_own_keyring();
  if (stands(spec, "no_new_privs")) forbid_new_privileges();
  set_dumpable(!stands(spec, "dumpable"));
  if (stands(spec, "capabilities")) drop_capabilities();
  if (stands(spec, "landlock")) restrict_with_landlock();
  Fd gate_requests;
  if (stands(spec, "seccomp")) {
    install_seccomp(kFilterArgumentsFd);
    gate_requests = install_asking_seccomp(kFilterCallsFd);
  }
  check(close_range(kFilterCallsFd, kFilterArgumentsFd, 0), "close filters");
  return gate_requests;
}

}  // namespace sandgate
