#pragma once
#include <string>
#include <vector>

#include "local/agent/file_path.hpp"

namespace sandgate::agent {

constexpr size_t kMaxNames = 1'000'000;  // in one directory

// Returns the names in a directory, sorted, without "." and "..". Throws Error, too_large beyond
// `max` names. Here and below, `path` is the path that errors name.
std::vector<std::string> names_in(const Fd& directory, size_t max, const std::string& path);

// Removes a file, or a directory and its content; never follows a symlink. Throws Error, conflict
// when a directory is moved meanwhile.
void remove_tree(const Place& place, const std::string& path);
// Copies a file, directory or symlink to a name that does not exist yet. Throws Error, invalid for
// devices, sockets and pipes.
void copy_tree(const Place& from, const Place& to, const std::string& path);

}  // namespace sandgate::agent
