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

// Reads `wanted` bytes of a file from `offset`; fewer only at its end. Errors name `path`.
size_t read_fully(const Fd& file, char* into, size_t wanted, uint64_t offset,
                  const std::string& path);

}  // namespace sandgate::agent
