#pragma once
#include <cstdint>
#include <filesystem>

namespace sandgate::cli {

// Total size of all regular files below a directory; does not follow symbolic links.
uint64_t bytes_below(const std::filesystem::path& directory);

// Writes a directory's contents to `fd` as a tar stream: files, directories and symbolic links with
// permission bits and times, without owners. Throws Error(internal) with the failing path.
void pack(const std::filesystem::path& directory, int fd);

// Unpacks a tar stream from `fd` below `directory`, which must exist. The stream comes from a
// sandbox and is not trusted. Throws Error(invalid) for names that are absolute, lead outside or
// pass through a symbolic link. Skips devices and clears set-uid bits. Reads `fd` to its end, so
// that a writer of late padding does not fail.
void unpack(int fd, const std::filesystem::path& directory);

}  // namespace sandgate::cli
