#pragma once
#include <sys/mount.h>

#include <cstdint>

#include "local/namespaces/fd.hpp"

// Mounts by descriptor: no path of a tenant's file tree is ever resolved twice or followed.
namespace sandgate {

// A file system being configured; mount() yields it as a detached mount.
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

// A detached copy of the mount at a directory or file given by descriptor.
Fd clone_mount(int source);

// Changes attributes (MOUNT_ATTR_*) of a mount; detached or in our namespace.
void set_mount_attributes(int mount, uint64_t attributes);

// Shows files of a detached mount with the ids of a user namespace, read-only if asked.
void idmap_mount(int mount, int user_namespace, uint64_t attributes);

// Puts a detached mount over what `target` names exactly.
void attach_mount(int mount, int target);

// Opens a path below `root` that must exist there: no symlink is followed, nothing outside is
// reached. Throws StepError(step).
Fd open_below(int root, const char* path, int flags, const char* step);

// open_below for a directory that is made first when missing; the last component only.
Fd make_directory_below(int root, const char* name, unsigned mode, const char* step);

}  // namespace sandgate
