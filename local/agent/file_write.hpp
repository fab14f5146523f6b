#pragma once
#include <ctime>
#include <string>
#include <string_view>

#include "local/agent/file_path.hpp"
#include "local/agent/file_session.hpp"

namespace sandgate::agent {

// A file that appears under its name complete or not at all: written beside it, then renamed.
class PendingFile {
 public:
  // Throws Error when the place cannot be written.
  PendingFile(const Place& place, std::string path);
  ~PendingFile();  // without commit(): nothing is left
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view bytes);
  // `settled`: returns when the disk has it. Throws Error(quota_exceeded) when it has no place.
  void commit(uint32_t mode, timespec modified, bool settled);

 private:
  void settle(int descriptor) const;

  const Place& place_;
  const std::string path_;
  std::string temporary_;
  File file_;
};

// Whether a PendingFile not yet committed has this name.
bool is_pending(std::string_view name);

// "write" {path, mode}, then bytes, then end: replies the entry of what was written.
void write_file(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
