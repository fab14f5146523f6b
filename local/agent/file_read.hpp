#pragma once
#include "local/agent/file_path.hpp"
#include "local/agent/file_session.hpp"

namespace sandgate::agent {

// "read" {path, offset?, length?}: replies the entry, then bytes, then end.
void read_file(FileSession& session, FileRequest& request);
// "stat" {path}: replies the entry, of a symlink itself.
void stat_file(FileSession& session, FileRequest& request);
// "list" {path, depth}: items of entries sorted by path, then end.
void list_files(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
