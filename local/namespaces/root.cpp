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

// Mounts a tmpfs to build the root in, over a host directory that every user may enter. It is
// detached with the host's mounts.
Fd mount_stage() {
  NewFilesystem tmpfs("tmpfs");
  tmpfs.set("size", "65536");
  tmpfs.set("mode", "0755");
  Fd stage = tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  Fd place(open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place) place = check_fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), "open stage");
  attach_mount(stage.get(), place.get());
  check(fchdir(stage.get()), "enter stage");
  return stage;
}

void place_below(int stage, const char* name, const Fd& mount) {
  attach_mount(mount.get(), make_directory_below(stage, name, 0755, "stage directory").get());
}

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

}  // namespace

NewRoot assemble_root(const LaunchSpec& spec, RootLayers layers) {
  if (is_applied(spec, "propagation"))
    check(mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "private mounts");
  Fd stage = mount_stage();
  place_below(stage.get(), "image", layers.image);
  place_below(stage.get(), "disk", layers.disk);
  NewRoot made;
  made.root = mount_layers(spec);
  place_below(stage.get(), "root", made.root);
  made.empty = make_directory_below(stage.get(), "empty", 0555, "empty directory");
  Fd dev = make_directory_below(made.root.get(), "dev", 0755, "mount point /dev");
  attach_mount(layers.dev.get(), dev.get());
  if (layers.workspace) {
    Fd place = make_directory_below(made.root.get(), "workspace", 0755, "mount point /workspace");
    attach_mount(layers.workspace.get(), place.get());
  }
  return made;
}

void enter_root(const LaunchSpec& spec, const NewRoot& root) {
  check(fchdir(root.root.get()), "enter root");
  check(syscall(SYS_pivot_root, ".", "."), "pivot_root");
  if (is_applied(spec, "host_mounts")) check(umount2(".", MNT_DETACH), "detach host mounts");
  check(chdir("/"), "chdir /");
  char path[8];
  if (getcwd(path, sizeof path) == nullptr || std::strcmp(path, "/") != 0) {
    throw StepError("verify root", EXDEV);
  }
}

}  // namespace sandgate
