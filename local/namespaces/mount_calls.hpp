#pragma once
#include <sys/mount.h>

#include <cstdint>

#include "gateway/core/fd.hpp"

// Mounting by descriptor, so that no path in a tenant's file tree is resolved twice or through a
// symlink. All functions throw StepError.
namespace sandgate {

// A new file system being configured; mount() returns it as a detached mount.
class NewFilesystem {
 public:
  explicit NewFilesystem(const char* type);
  void set(const char* key, const char* value);
  void set_flag(const char* key);
  Fd mount(unsigned attributes);

 private:
  const char* type_;
  Fd context_;
};

// Returns a detached copy of the mount at a directory or file, given by descriptor.
Fd clone_mount(int source);

// Adds attributes (MOUNT_ATTR_*) to a mount, detached or in the caller's mount namespace.
void set_mount_attributes(int mount, uint64_t attributes);

// Id-maps a detached mount with a user namespace and adds `attributes`.
void idmap_mount(int mount, int user_namespace, uint64_t attributes);

// Attaches a detached mount on top of the file or directory that `target` is open on.
void attach_mount(int mount, int target);
// On top of the entry `name` of `directory`, which is not followed if it is a symlink. Returns
// false, with errno, if the kernel refuses.
bool try_attach_below(int mount, int directory, const char* name);

// Opens an existing path below `root`, without following symlinks or leaving `root`. Throws
// StepError(step).
Fd open_below(int root, const char* path, int flags, const char* step);
// As open_below(); empty, with errno, on failure.
Fd try_open_below(int root, const char* path, int flags);

// Opens a directory directly in `root`, as open_below() does, and makes it first if missing.
Fd make_directory_below(int root, const char* name, unsigned mode, const char* step);

}  // namespace sandgate
