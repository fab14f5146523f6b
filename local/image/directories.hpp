#pragma once
#include <filesystem>

namespace sandgate {

// Makes a directory and those above it, also where a link on the way leads to nothing yet, as
// container runtimes do. For use inside a tree's own root, which bounds where links lead. Throws
// std::filesystem::filesystem_error.
void make_directories(const std::filesystem::path& path);

}  // namespace sandgate
