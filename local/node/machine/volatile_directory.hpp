#pragma once
#include <string>

namespace sandgate {

// Makes a directory for files that are useless after the next boot. Unless `path` is on a tmpfs
// already, it becomes a symlink to a new directory on /run or /dev/shm, if the caller is root and
// one of them is a writable tmpfs: on a disk, creating and removing a sandbox's five files takes
// about a millisecond. Otherwise it is a plain directory. A directory with content from an earlier
// start is kept as it is. Throws std::filesystem::filesystem_error.
void make_volatile_directory(const std::string& path);

// Whether the caller can use /run or /dev/shm for one.
bool has_volatile_memory();

// Removes `path` and the directory that it links to, if that is empty. Keeps a plain directory.
void remove_volatile_directory(const std::string& path) noexcept;

}  // namespace sandgate
