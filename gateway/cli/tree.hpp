#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace sandgate::cli {

// Total size of all regular files below a directory; does not follow symbolic links.
uint64_t bytes_below(const std::filesystem::path& directory);

// Writes a directory's contents to `fd` as a tar stream: files, directories and symbolic links with
// permission bits and times, without owners. Names are bytes, in any encoding. Returns what is none
// of these (pipes, sockets, devices) and was left out. Throws Error(internal) with the failing
// path; the stream then has no end, so that no reader takes it for complete.
std::vector<std::filesystem::path> pack(const std::filesystem::path& directory, int fd);

// Unpacks a tar stream from `fd` below `directory`, which must exist; names are kept byte by byte.
// The stream comes from a sandbox and is not trusted. Throws Error(invalid) for names that are
// absolute, lead outside or pass through a symbolic link. Skips devices and clears set-uid bits.
// Reads `fd` to its end, so that a writer of late padding does not fail.
void unpack(int fd, const std::filesystem::path& directory);

}  // namespace sandgate::cli
