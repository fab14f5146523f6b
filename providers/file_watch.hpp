#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/async.hpp"

namespace sandgate {

enum class FileChangeKind { create, write, remove, rename, overflow };  // overflow: some were lost

std::string_view to_string(FileChangeKind kind);
std::optional<FileChangeKind> file_change_kind_from(std::string_view text);

struct FileChange {
  FileChangeKind kind = FileChangeKind::write;
  std::string path;  // absolute; of a rename the new one; empty for overflow
  std::string from;  // of a rename
  bool directory = false;
};

// Changes below a directory since the watch began. What is not pulled waits in the backend,
// bounded: beyond that the oldest are replaced by one overflow. Dropping the watch ends it.
class FileWatch {
 public:
  virtual ~FileWatch() = default;
  // Empty when the directory itself is gone. Throws Error(unavailable) when the watch broke.
  virtual Task<std::optional<FileChange>> next() = 0;
};

}  // namespace sandgate
