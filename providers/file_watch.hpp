#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/words.hpp"
#include "providers/file_type.hpp"

namespace sandgate {

// `overflow` means that changes were lost.
enum class FileChangeKind { create, write, remove, rename, overflow };

inline constexpr Words kFileChangeKindWords({Word{FileChangeKind::create, "create"},
                                             Word{FileChangeKind::write, "write"},
                                             Word{FileChangeKind::remove, "remove"},
                                             Word{FileChangeKind::rename, "rename"},
                                             Word{FileChangeKind::overflow, "overflow"}});
std::string_view to_string(FileChangeKind kind);
std::optional<FileChangeKind> file_change_kind_from(std::string_view text);

struct FileChange {
  FileChangeKind kind = FileChangeKind::write;
  std::string path;  // absolute; the new path of a rename; empty for overflow
  std::string from;  // the old path of a rename
  // As of when the change was reported. Of something gone by then a backend may only know whether
  // it was a directory: all else is `file`.
  FileType type = FileType::file;
};

// The changes below a directory since the watch began. Changes that are not pulled are buffered in
// the backend; when that buffer is full, the oldest are replaced by one overflow. Dropping the
// watch ends it.
class FileWatch {
 public:
  virtual ~FileWatch() = default;
  // Waits for changes, and returns all that came together, in order. Returns none if the directory
  // itself is gone. Throws Error(unavailable) if the watch broke.
  virtual Task<std::vector<FileChange>> next() = 0;
};

}  // namespace sandgate
