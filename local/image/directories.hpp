#pragma once
#include <filesystem>

namespace sandgate {

// The most levels of directories of a tree, symlinks followed: who walks a tree has a descriptor
// open for each.
inline constexpr int kMaxDepth = 256;
// Whether a directory made there, in one that exists, would be deeper.
bool is_too_deep(const std::filesystem::path& path);

// Makes a directory and its parents, including missing targets of symlinks on the way, as container
// runtimes do. Call it inside a tree's own root (see run_in_chroot()), which confines the symlinks.
// Returns how many it made. Throws std::filesystem::filesystem_error, also beyond kMaxDepth.
int make_directories(const std::filesystem::path& path);

}  // namespace sandgate
