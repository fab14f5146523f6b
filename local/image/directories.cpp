#include "local/image/directories.hpp"

#include <iterator>

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // the kernel's limit

int make(const fs::path& path, int links) {
  int made = 0;
  fs::path here;
  for (const fs::path& part : path) {
    here /= part;
    if (fs::is_directory(here)) continue;
    if (!fs::is_symlink(here)) {
      if (is_too_deep(here)) {
        throw fs::filesystem_error("too deep", path,
                                   std::make_error_code(std::errc::filename_too_long));
      }
      fs::create_directory(here);
      ++made;
      continue;
    }
    if (links == kMaxLinks) {
      throw fs::filesystem_error("too many links", path,
                                 std::make_error_code(std::errc::too_many_symbolic_link_levels));
    }
    made += make((here.parent_path() / fs::read_symlink(here)).lexically_normal(), ++links);
  }
  return made;
}

}  // namespace

bool is_too_deep(const fs::path& path) {
  const fs::path parent = fs::canonical(path.parent_path());  // the root and a part for each level
  return std::distance(parent.begin(), parent.end()) > kMaxDepth;
}

int make_directories(const fs::path& path) { return make(path, 0); }

}  // namespace sandgate
