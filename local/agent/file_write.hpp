#pragma once
#include <ctime>
#include <string>
#include <string_view>

#include "local/agent/file_path.hpp"
#include "local/agent/file_session.hpp"

namespace sandgate::agent {

// An atomically written file: a temporary file in the same directory, renamed on commit().
class PendingFile {
 public:
  // `place` outlives it; errors name `path`. Throws Error when the place cannot be written.
  PendingFile(const Place& place, std::string path);
  ~PendingFile();  // without commit(), removes the temporary file
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view bytes);
  // Gives the file its mode, time and name. With `settled`, the file is synced to disk before this
  // returns. Throws Error, quota_exceeded when the disk is full.
  void commit(uint32_t mode, timespec modified, bool settled);

 private:
  void settle(int descriptor) const;

  const Place& place_;
  const std::string path_;
  std::string temporary_;
  File file_;
};

// Whether this is the name of a PendingFile's temporary file.
bool is_pending(std::string_view name);

// "write" {path, mode}, then bytes, then end: replies {} first, then the entry of the new file.
void write_file(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
