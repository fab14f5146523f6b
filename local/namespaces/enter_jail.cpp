// The sandbox's part of its start: the first process builds its root and drops its privileges.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "local/fd_passing.hpp"
#include "local/namespaces/capabilities.hpp"
#include "local/namespaces/dev.hpp"
#include "local/namespaces/disk_mount.hpp"
#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/jail.hpp"
#include "local/namespaces/jail_descriptors.hpp"
#include "local/namespaces/landlock.hpp"
#include "local/namespaces/limits.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/net.hpp"
#include "local/namespaces/proc.hpp"
#include "local/namespaces/root.hpp"
#include "local/namespaces/seccomp_install.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

// The image as the working directory, inherited from the launcher but in this mount namespace's
// copy of the mounts. An unprivileged process may clone only those.
Fd image_here() {
  Fd directory = check_fd(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), "open image");
  Fd image = clone_mount(directory.get());
  set_mount_attributes(image.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  return image;
}

// The descriptor table is shared, so the pipe stays open when the launcher dies; its pidfd shows
// that.
void wait_for_go() {
  pollfd watched[2] = {{kGoFd, POLLIN, 0}, {kLauncherFd, POLLIN, 0}};
  char byte = 0;
  if (poll(watched, 2, -1) < 1 || (watched[0].revents & POLLIN) == 0 ||
      read(kGoFd, &byte, 1) != 1) {
    _exit(1);  // the launcher is gone
  }
  check(unshare(CLONE_FILES), "own descriptor table");
}

// What needs no id inside, and so goes on while the launcher maps them.
void settle_namespaces(const LaunchSpec& spec) {
  if (is_applied(spec, "uts")) {
    check(sethostname(spec.hostname.data(), spec.hostname.size()), "sethostname");
    check(setdomainname("", 0), "setdomainname");
  }
  if (!makes_own_network(spec)) return;
  bring_loopback_up();
  limit_network_buffers(spec);
}

// Everything of the root that needs no disk, which is made meanwhile.
Fd prepare_stage(const LaunchSpec& spec) {
  Fd stage = make_stage(spec);
  place_on_stage(stage.get(), "image", spec.single_id ? image_here() : Fd(kImageMount));
  place_on_stage(stage.get(), "dev", spec.single_id ? make_dev(DevNodes::bound) : Fd(kDevMount));
  if (spec.workspace != WorkspaceKind::none)
    place_on_stage(stage.get(), "workspace", Fd(kWorkspaceMount));
  mount_dev_parts(spec, stage.get());
  mount_proc(spec, stage.get());
  return stage;
}

Fd receive_disk() {
  char word[8];
  FdMessage received = receive_with_fds(kReportFd, word);
  if (received.fds.empty()) throw StepError("receive disk", received.size < 0 ? errno : ECHILD);
  return received.first_fd();
}

void build_root(const LaunchSpec& spec) {
  const Fd stage = prepare_stage(spec);
  place_on_stage(stage.get(), "disk",
                 spec.disk == DiskKind::loop
                     ? receive_disk()
                     : mount_memory_disk(spec.disk_bytes, spec.disk_inodes));
  enter_root(spec, assemble_root(spec, stage.get()));
}

// Redirects the standard streams to /dev/null and closes all but the descriptors still needed.
void close_descriptors(const LaunchSpec& spec) {
  Fd null = check_fd(open("/dev/null", O_RDWR), "open /dev/null");
  for (int fd : {0, 1, 2}) check(dup2(null.get(), fd), "standard streams");
  null.reset();
  check(close_range(kSpecFd, kSpecFd, 0), "close descriptors");
  check(close_range(kImageFd, kImageFd, 0), "close descriptors");
  if (is_applied(spec, "descriptors"))
    check(close_range(kFilterArgumentsFd + 1, ~0U, 0), "close descriptors");
}

}  // namespace

Fd enter_jail(const LaunchSpec& spec) {
  settle_namespaces(spec);
  wait_for_go();
  // Rooted at its creator's group, so it is created after the group is entered.
  if (is_applied(spec, "cgroup_names")) check(unshare(CLONE_NEWCGROUP), "cgroup namespace");
  become_inner_root(spec.single_id, observers_of(spec));
  if (spec.single_id && is_applied(spec, "limits")) leave_others_their_share();
  build_root(spec);
  if (is_applied(spec, "limits")) apply_rlimits(spec.disk_bytes);
  close_descriptors(spec);
  join_own_keyring();
  if (is_applied(spec, "no_new_privs")) forbid_new_privileges();
  set_dumpable(!is_applied(spec, "dumpable"));
  if (is_applied(spec, "capabilities")) drop_capabilities();
  if (is_applied(spec, "landlock")) restrict_with_landlock();
  Fd seccomp_notifications;
  if (is_applied(spec, "seccomp")) {
    install_seccomp(kFilterArgumentsFd);
    seccomp_notifications = install_notifying_seccomp(kFilterCallsFd);
  }
  check(close_range(kFilterCallsFd, kFilterArgumentsFd, 0), "close filters");
  return seccomp_notifications;
}

}  // namespace sandgate
