#pragma once
#include <string>
#include <vector>

#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

constexpr size_t kMaxNames = 1'000'000;  // in one directory

struct Names {
  std::vector<std::string> names;
  bool all = true;  // there are no others
};

// Returns up to `max` of the names in a directory, sorted, without "." and "..". Throws Error. Here
// and below, `path` is the path that errors name.
Names some_names_in(const Fd& directory, size_t max, const std::string& path);
// Returns all of them. Throws Error, too_large beyond kMaxNames.
std::vector<std::string> names_in(const Fd& directory, const std::string& path);

// Removes a file, or a directory and its content, however many there are; never follows a symlink.
// What others remove meanwhile is removed. Shows its progress, and goes on when the client leaves.
// Throws Error, conflict when a directory is moved meanwhile or does not become empty.
void remove_tree(FileSession& session, const Place& place, const std::string& path);

// Opens the parent of the directory `here`. Returns false when that is not the directory with this
// status: `here` was moved. Throws Error.
bool go_up(Fd& here, const struct stat& parent, const std::string& path);
// Opens a directory, not through a symlink; empty with errno on failure.
Fd open_directory(int parent, const std::string& name);

}  // namespace sandgate::agent
