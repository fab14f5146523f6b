#include "local/image/directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "gateway/core/fd.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // the kernel's limit

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw fs::filesystem_error(what, path, std::error_code(errno, std::generic_category()));
}

// The levels above a directory, itself included, counted upwards from it: the names that lead there
// may be links, and to look at each of them would take time by the square of their number. Stops
// where it is more than a tree may have.
int depth_of(const fs::path& directory) {
  struct stat root {};
  struct stat here {};
  Fd place(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place || stat("/", &root) != 0) fail("look at directory", directory);
  int depth = 1;
  for (; depth <= kMaxDepth; ++depth) {
    if (fstat(place.get(), &here) != 0) fail("look at directory", directory);
    if (here.st_ino == root.st_ino && here.st_dev == root.st_dev) break;
    place.reset(openat(place.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!place) fail("look above directory", directory);
  }
  return depth;
}

// Makes the directories of these names, each in the one before. Returns how many.
int make_new(const fs::path& parent, fs::path::iterator name, fs::path::iterator end) {
  int made = 0;
  const int depth = depth_of(parent);
  Fd place(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (; name != end && !name->empty(); ++name, ++made) {
    errno = ENAMETOOLONG;
    if (depth + made > kMaxDepth || mkdirat(place.get(), name->c_str(), 0777) != 0)
      fail("cannot make directory", parent / *name);
    place.reset(openat(place.get(), name->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return made;
}

int make(const fs::path& path, int links) {
  int made = 0;
  fs::path here;
  for (auto part = path.begin(); part != path.end(); ++part) {
    here /= *part;
    if (fs::is_directory(here)) continue;
    if (!fs::is_symlink(here)) return made + make_new(here.parent_path(), part, path.end());
    if (links == kMaxLinks) {
      throw fs::filesystem_error("too many links", path,
                                 std::make_error_code(std::errc::too_many_symbolic_link_levels));
    }
    made += make((here.parent_path() / fs::read_symlink(here)).lexically_normal(), ++links);
  }
  return made;
}

}  // namespace

bool is_too_deep(const fs::path& path) { return depth_of(path.parent_path()) > kMaxDepth; }

int make_directories(const fs::path& path) { return make(path, 0); }

}  // namespace sandgate
