#include "local/namespaces/root.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "local/namespaces/disk.hpp"
#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

// userxattr: in a user namespace overlayfs must keep its marks in user.* attributes. Relative names
// keep the stage's path out of mountinfo.
Fd mount_overlay(const LaunchSpec& spec) {
  NewFilesystem overlay("overlay");
  overlay.set("lowerdir", "image");
  overlay.set("upperdir", "disk/upper");
  overlay.set("workdir", "disk/work");
  overlay.set_flag("userxattr");
  return overlay.mount(MOUNT_ATTR_NODEV | (is_applied(spec, "nosuid") ? MOUNT_ATTR_NOSUID : 0));
}

// Mounting an overlay creates a few temporary files, so a disk without free inodes could never be
// mounted again from a snapshot. The disk's spare files are deleted for the mount and made again.
template <class F>
void with_spare_files(F use) {
  std::array<std::string, kSpareFiles> names;
  for (int i = 0; i < kSpareFiles; ++i) names[i] = "disk/spare/" + std::to_string(i);
  for (const std::string& name : names) unlink(name.c_str());
  use();
  for (const std::string& name : names)
    Fd(open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

Fd mount_layers(const LaunchSpec& spec) {
  Fd root;
  try {
    return mount_overlay(spec);
  } catch (const StepError& failure) {
    if (failure.number != ENOSPC) throw;
  }
  with_spare_files([&] { root = mount_overlay(spec); });
  return root;
}

// Moves the mount with all that is mounted in it.
void move_from_stage(int stage, const char* name, int root) {
  const Fd mount = open_below(stage, name, O_PATH | O_DIRECTORY, "stage directory");
  attach_mount(mount.get(), make_directory_below(root, name, 0755, "mount point").get());
}

}  // namespace

// Over a host directory that every user may enter.
Fd make_stage(const LaunchSpec& spec) {
  if (is_applied(spec, "propagation"))
    check(mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "private mounts");
  NewFilesystem tmpfs("tmpfs");
  tmpfs.set("size", "65536");
  tmpfs.set("mode", "0755");
  Fd stage = tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  Fd place(open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place) place = check_fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), "open stage");
  attach_mount(stage.get(), place.get());
  return stage;
}

void place_on_stage(int stage, const char* name, const Fd& mount) {
  attach_mount(mount.get(), make_directory_below(stage, name, 0755, "stage directory").get());
}

Fd assemble_root(const LaunchSpec& spec, int stage) {
  check(fchdir(stage), "enter stage");
  Fd root = mount_layers(spec);
  place_on_stage(stage, "root", root);
  move_from_stage(stage, "dev", root.get());
  move_from_stage(stage, "proc", root.get());
  if (spec.workspace != WorkspaceKind::none) move_from_stage(stage, "workspace", root.get());
  return root;
}

void enter_root(const LaunchSpec& spec, const Fd& root) {
  check(fchdir(root.get()), "enter root");
  check(syscall(SYS_pivot_root, ".", "."), "pivot_root");
  if (is_applied(spec, "host_mounts")) check(umount2(".", MNT_DETACH), "detach host mounts");
  check(chdir("/"), "chdir /");
  char path[8];
  if (getcwd(path, sizeof path) == nullptr || std::strcmp(path, "/") != 0) {
    throw StepError("verify root", EXDEV);
  }
}

}  // namespace sandgate
