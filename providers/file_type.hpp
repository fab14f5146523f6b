#pragma once
#include <string_view>

namespace sandgate {

enum class FileType { file, directory, symlink, other };

std::string_view to_string(FileType type);
FileType file_type_from(std::string_view word);  // an unknown word is `other`

}  // namespace sandgate
