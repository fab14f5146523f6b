#pragma once
#include <string>
#include <vector>

#include "local/agent/file_path.hpp"

namespace sandgate::agent {

constexpr size_t kMostNames = 1'000'000;  // in one directory

// The names in a directory, sorted, without "." and "..". Throws Error(too_large) beyond `max`.
std::vector<std::string> names_in(const File& directory, size_t max, const std::string& path);

// Removes a file or a directory with all that is in it; never follows a symlink.
void remove_tree(const Place& place, const std::string& path);
// Copies files, directories and symlinks to a name that is not there yet.
void copy_tree(const Place& from, const Place& to, const std::string& path);

}  // namespace sandgate::agent
