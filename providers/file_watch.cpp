#include "providers/file_watch.hpp"

namespace sandgate {

std::string_view to_string(FileChangeKind kind) { return kFileChangeKindWords.of(kind); }

std::optional<FileChangeKind> file_change_kind_from(std::string_view text) {
  return kFileChangeKindWords.find(text);
}

}  // namespace sandgate
