#pragma once
#include <filesystem>

namespace sandgate {

// Makes a directory and its parents, including missing targets of symlinks on the way, as container
// runtimes do. Call it inside a tree's own root (see in_tree()), which confines the symlinks.
// Throws std::filesystem::filesystem_error.
void make_directories(const std::filesystem::path& path);

}  // namespace sandgate
