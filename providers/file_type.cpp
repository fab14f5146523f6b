#include "providers/file_type.hpp"

#include <array>

namespace sandgate {
namespace {

constexpr std::array<std::string_view, 4> kFileTypes{"file", "directory", "symlink", "other"};

}  // namespace

std::string_view to_string(FileType type) { return kFileTypes[static_cast<size_t>(type)]; }

FileType file_type_from(std::string_view word) {
  for (size_t i = 0; i < kFileTypes.size(); ++i)
    if (kFileTypes[i] == word) return static_cast<FileType>(i);
  return FileType::other;
}

}  // namespace sandgate
