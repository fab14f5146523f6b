#pragma once
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/file.hpp"

namespace sandgate::agent {

inline constexpr size_t kMaxPath = 4096;  // as the kernel's, with the byte that ends it

// What every file operation starts from; it reads its members and finishes the reader.
struct FileRequest {
  ObjectReader& reader;
  Problems& problems;
  std::string home;  // where relative paths start

  // The member as an absolute path without ".", ".." and double slashes. Problems are gathered.
  std::string path(std::string_view member);
  void finish();  // throws Error(invalid) that names every problem
};

// A failed system call on a path as an Error: what the caller can do next. Uses errno.
Error path_error(const std::string& path);

// A name in an open directory; "." for the root itself.
struct Place {
  File directory;
  std::string name;
};

// A directory with everything missing on the way (0755), opened. Throws Error.
File make_directories(const std::string& path);

// The parent of an absolute path, opened; `create` makes what is missing on the way (0755).
Place open_place(const std::string& path, bool create);
// The same, but a final symlink is followed to the place it names (which need not exist).
Place open_target(const std::string& path, bool create);

// What a client sees of a file; a symlink's target is added by describe(). `revision` is another
// for every change: nobody sets a file's ctime.
nlohmann::json entry_of(const struct stat& info, const std::string& path);
// The entry at a place, not following a final symlink; `path` is what the client sees.
nlohmann::json describe(const Place& place, const std::string& path);
std::optional<nlohmann::json> describe_if_there(int directory, const std::string& name,
                                                const std::string& path);

// The child of a directory, both as the client writes them.
std::string join(const std::string& directory, std::string_view name);

}  // namespace sandgate::agent
