#pragma once
#include <string>

namespace sandgate {

// A directory for what the next boot of the machine makes worthless. Where `path` is not in memory
// already it becomes a symbolic link to a directory of ours on /run or /dev/shm, whichever is: on a
// disk's file system the making and removing of five files costs a short life a millisecond. What
// is there from an earlier start, of whatever layout, is kept. A plain directory where the machine
// offers no memory. Throws std::filesystem::filesystem_error.
void make_volatile_directory(const std::string& path);

// Whether this machine offers memory for one.
bool has_volatile_memory();

// Removes `path` and what it leads to, if that is empty.
void remove_volatile_directory(const std::string& path) noexcept;

}  // namespace sandgate
