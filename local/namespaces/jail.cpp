#include "local/namespaces/jail.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "local/namespaces/capabilities.hpp"
#include "local/namespaces/dev.hpp"
#include "local/namespaces/disk_mount.hpp"
#include "local/namespaces/landlock.hpp"
#include "local/namespaces/limits.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/net.hpp"
#include "local/namespaces/proc.hpp"
#include "local/namespaces/seccomp_install.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

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

// CLONE_PARENT makes the node the parent, who can then wait for it when the launcher is gone.
NewProcess clone_into_namespaces(const LaunchSpec& spec) {
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
               CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_PIDFD | CLONE_PARENT | CLONE_FILES;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  if (spec.cgroup_version == 2) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = kFirstCgroup;
  }
  NewProcess made;
  made.pid = static_cast<pid_t>(check(syscall(SYS_clone3, &args, sizeof args), "clone3"));
  if (made.pid != 0) made.pidfd.reset(pidfd);
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

// What is written inside has the same ids outside.
Fd workspace_layer(WorkspaceKind kind, int user_namespace) {
  Fd workspace = clone_mount(kWorkspaceFd);
  const uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  idmap_mount(workspace.get(), user_namespace,
              kind == WorkspaceKind::read_only ? attributes | MOUNT_ATTR_RDONLY : attributes);
  return workspace;
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
  become_inner_root();
  check(sethostname(spec.hostname.data(), spec.hostname.size()), "sethostname");
  check(setdomainname("", 0), "setdomainname");
  bring_loopback_up();
}

void build_root(const LaunchSpec& spec) {
  RootLayers layers;
  layers.image = Fd(kImageMount);
  layers.dev = Fd(kDevMount);
  layers.disk = spec.disk == DiskKind::loop ? Fd(kDiskMount)
                                            : mount_memory_disk(spec.disk_bytes, spec.disk_inodes);
  if (spec.workspace != WorkspaceKind::none) layers.workspace = Fd(kWorkspaceMount);
  NewRoot root = assemble_root(std::move(layers));
  mount_dev_parts(root.root.get(), spec.shm_bytes);
  mount_proc(root);
  enter_root(root);
}

// Standard streams of the agent lead nowhere; beyond them only the listed descriptors stay.
void close_descriptors() {
  Fd null = check_fd(open("/dev/null", O_RDWR), "open /dev/null");
  for (int fd : {0, 1, 2}) check(dup2(null.get(), fd), "standard streams");
  null.reset();
  check(close_range(kSpecFd, kSpecFd, 0), "close descriptors");
  check(close_range(kImageFd, kImageFd, 0), "close descriptors");
  check(close_range(kFilterArgumentsFd + 1, ~0U, 0), "close descriptors");
}

}  // namespace

void send_report(const LaunchReport& report, int with_fd) {
  std::string text = to_json_text(report);
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (with_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &with_fd, sizeof(int));
  }
  check(sendmsg(kReportFd, &message, MSG_NOSIGNAL), "send report");
}

void start_jailed(const LaunchSpec& spec, void (*inside)(const LaunchSpec&)) {
  int go[2];
  check(pipe2(go, O_CLOEXEC), "go pipe");
  Fd go_write(go[1]);
  hand_over(Fd(go[0]), kGoFd);
  hand_over(check_fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)), "own pidfd"),
            kLauncherFd);
  hand_over(make_dev(), kDevMount);
  // Before the control group, which keeps block devices away from whoever is in it.
  Fd disk;
  if (spec.disk == DiskKind::loop) {
    LoopDevice loop = attach_loop(kDiskFd);
    disk = mount_disk(loop);
  }
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
  if (spec.workspace != WorkspaceKind::none)
    hand_over(workspace_layer(spec.workspace, user_namespace.get()), kWorkspaceMount);
  if (disk) {
    // Id-mapped, so that the image file's owners are the same whatever range its sandbox has.
    idmap_mount(disk.get(), user_namespace.get(), 0);
    send_report({LaunchReport::Kind::disk, 0, "", 0}, disk.get());
    hand_over(std::move(disk), kDiskMount);
  }
  check(write(go_write.get(), "x", 1), "go");
}

void enter_jail(const LaunchSpec& spec) {
  wait_for_go();
  settle_namespaces(spec);
  build_root(spec);
  apply_rlimits(spec.disk_bytes);
  close_descriptors();
  lock_privileges();
  drop_capabilities();
  restrict_with_landlock();
  install_seccomp(kFilterArgumentsFd);
  install_seccomp(kFilterCallsFd);
  check(close_range(kFilterCallsFd, kFilterArgumentsFd, 0), "close filters");
}

}  // namespace sandgate
