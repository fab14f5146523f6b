#pragma once
#include <string>
#include <string_view>

#include "gateway/core/fd.hpp"

namespace sandgate::agent {

// Opens a path with openat2, following symlinks but never magic links (/proc/<pid>/{fd,cwd,root,
// exe}), and nothing in procfs that tells this process's memory layout. The descriptor is
// close-on-exec and never becomes a controlling terminal. Returns -1 with errno on failure.
int open_safely(int directory, const char* path, int flags, unsigned mode = 0);

// Returns a regular file's bytes, at most `max`; empty when it cannot be read.
std::string read_small_file(const char* path, size_t max);

}  // namespace sandgate::agent
