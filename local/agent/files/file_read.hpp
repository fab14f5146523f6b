#pragma once
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

// "read" {path, offset?, length?}: replies the entry, then bytes, then end.
void read_file(FileSession& session, FileRequest& request);
// "stat" {path}: replies the entry; a symlink is not followed.
void stat_file(FileSession& session, FileRequest& request);
// "list" {path, depth}: replies {}, then items of entries sorted by path, then end. Fails with
// too_large beyond 100 000 entries or 16 MiB of names.
void list_files(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
