#pragma once
#include <string_view>

#include "gateway/core/words.hpp"

namespace sandgate {

enum class FileType { file, directory, symlink, other };

inline constexpr Words kFileTypeWords({Word{FileType::file, "file"},
                                       Word{FileType::directory, "directory"},
                                       Word{FileType::symlink, "symlink"},
                                       Word{FileType::other, "other"}});
std::string_view to_string(FileType type);
FileType file_type_from(std::string_view word);  // an unknown word is `other`

}  // namespace sandgate
