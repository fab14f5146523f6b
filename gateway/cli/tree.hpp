#pragma once
#include <cstdint>
#include <filesystem>

namespace sandgate::cli {

// Bytes of all regular files below a directory; symbolic links are not followed.
uint64_t bytes_below(const std::filesystem::path& directory);

// Writes what a directory holds as a tar stream to `fd`: files, directories, symbolic links, their
// permission bits and times, no owners. Throws Error(internal) naming the path that failed.
void pack(const std::filesystem::path& directory, int fd);

// Unpacks a tar stream from `fd` below `directory`, which must exist. The stream comes from a
// sandbox and is not trusted: absolute names, "..", names that lead through a symbolic link,
// devices and set-uid bits never come out. Throws Error(invalid) for such an entry. Reads to the
// end of `fd`, so that padding which arrives late disturbs nobody.
void unpack(int fd, const std::filesystem::path& directory);

}  // namespace sandgate::cli
