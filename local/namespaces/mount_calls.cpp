#include "local/namespaces/mount_calls.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <string>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

NewFilesystem::NewFilesystem(const char* type) : type_(type) {
  context_.reset(fsopen(type, FSOPEN_CLOEXEC));
  if (!context_) throw StepError(std::string("fsopen ") + type, errno);
}

void NewFilesystem::set(const char* key, const char* value) {
  if (fsconfig(context_.get(), FSCONFIG_SET_STRING, key, value, 0) != 0) {
    throw StepError(std::string("fsconfig ") + type_ + " " + key, errno);
  }
}

void NewFilesystem::set_flag(const char* key) {
  if (fsconfig(context_.get(), FSCONFIG_SET_FLAG, key, nullptr, 0) != 0) {
    throw StepError(std::string("fsconfig ") + type_ + " " + key, errno);
  }
}

Fd NewFilesystem::mount(unsigned attributes) {
  if (fsconfig(context_.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    throw StepError(std::string("create ") + type_, errno);
  }
  Fd mount(fsmount(context_.get(), FSMOUNT_CLOEXEC, attributes));
  if (!mount) throw StepError(std::string("fsmount ") + type_, errno);
  return mount;
}

Fd clone_mount(int source) {
  return check_fd(open_tree(source, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH),
                  "clone mount");
}

void set_mount_attributes(int mount, uint64_t attributes) {
  mount_attr attr{};
  attr.attr_set = attributes;
  check(mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof attr), "mount attributes");
}

void idmap_mount(int mount, int user_namespace, uint64_t attributes) {
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_IDMAP | attributes;
  attr.userns_fd = static_cast<uint64_t>(user_namespace);
  check(mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof attr), "id-mapped mount");
}

void attach_mount(int mount, int target) {
  check(move_mount(mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
        "attach mount");
}

bool try_attach_below(int mount, int directory, const char* name) {
  return move_mount(mount, "", directory, name, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

Fd try_open_below(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  return Fd(static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof how)));
}

Fd open_below(int root, const char* path, int flags, const char* step) {
  Fd opened = try_open_below(root, path, flags);
  if (!opened) throw StepError(step, errno);
  return opened;
}

Fd make_directory_below(int root, const char* name, unsigned mode, const char* step) {
  if (mkdirat(root, name, mode) != 0 && errno != EEXIST) throw StepError(step, errno);
  return open_below(root, name, O_PATH | O_DIRECTORY, step);
}

}  // namespace sandgate
