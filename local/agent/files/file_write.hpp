#pragma once
#include <ctime>
#include <string>
#include <string_view>

#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

// An atomically written file. It has no name before commit(), so that neither a copy of the disk
// nor a killed upload keeps a part of it. Where the file system has no O_TMPFILE or /proc is
// missing, it has a temporary name in the same directory instead.
class PendingFile {
 public:
  // `place` outlives it; errors name `path`. Throws Error when the place cannot be written.
  PendingFile(const Place& place, std::string path);
  ~PendingFile();  // without commit(), nothing remains
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view bytes);
  // Gives the file its mode, time and name, under which it can be run at once; nothing may follow.
  // With `durable`, the file is synced to disk before this returns. Throws Error, quota_exceeded
  // when the disk is full.
  void commit(uint32_t mode, timespec modified, bool durable);

 private:
  void sync(int descriptor) const;
  void give_name();

  const Place& place_;
  const std::string path_;
  std::string temporary_;  // name in the directory; empty while it has none
  Fd file_;
};

// A new temporary name for what gets its own name by a rename, which replaces something there.
std::string pending_name(bool replaces);
// Whether this is such a name.
bool is_pending(std::string_view name);
// Whether the rename of this name replaces something.
bool is_replacing(std::string_view name);

// "write" {path, mode}, then bytes, then end: replies {} first, then the entry of the new file.
void write_file(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
