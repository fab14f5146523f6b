#pragma once
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/files/file.hpp"

namespace sandgate::agent {

inline constexpr size_t kMaxPath = 4096;  // PATH_MAX, including the terminating NUL

// The argument of every file operation. The operation reads its members and calls finish().
struct FileRequest {
  ObjectReader& reader;
  Problems& problems;
  std::string home;  // base of relative paths

  // Returns the required member as an absolute path without ".", ".." and double slashes; a
  // malformed one is recorded in `problems`.
  std::string path(std::string_view member);
  void finish();  // throws Error(invalid) with all recorded problems
};

// Converts errno, left by a failed system call on `path`, to an Error.
Error path_error(const std::string& path);

// A name in an open directory; the name is "." for the root itself.
struct Place {
  Fd directory;
  std::string name;
};

// Opens a directory, making it and its missing parents (0755). Throws Error.
Fd make_directories(const std::string& path);

// Opens the parent of an absolute path; make_place() makes missing parents (0755). Throws Error.
Place open_place(const std::string& path);
Place make_place(const std::string& path);
// The same, but follows a final symlink to the place it names, which need not exist.
Place open_target(const std::string& path);
Place make_target(const std::string& path);

// The word for a file's type: "file", "directory", "symlink" or "other".
const char* type_name(mode_t mode);
// The entry that a client sees of a file, without a symlink's target. `revision` differs after
// every change: it is made of the inode and its ctime, which programs cannot set.
nlohmann::json entry_of(const struct stat& info, const std::string& path);
// The entry at a place, with the target if it is a symlink. `path` is the path shown to the client.
// Throws Error when there is nothing.
nlohmann::json describe(const Place& place, const std::string& path);
// What the symlink `name` in `directory` says; empty when it is none.
std::string read_link(int directory, const std::string& name);

// The client's path of the entry `name` in `directory`.
std::string join(const std::string& directory, std::string_view name);

}  // namespace sandgate::agent
