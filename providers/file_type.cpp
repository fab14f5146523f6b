#include "providers/file_type.hpp"

namespace sandgate {

std::string_view to_string(FileType type) { return kFileTypeWords.of(type); }

FileType file_type_from(std::string_view word) {
  return kFileTypeWords.find(word).value_or(FileType::other);
}

}  // namespace sandgate
