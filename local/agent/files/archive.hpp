#pragma once
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

// "archive_read" {path}: replies {}, then sends a tar of the directory's content (names relative to
// it) or of the one file as bytes, then end. Devices, pipes and sockets are left out. The whole
// tree is checked before the reply: an entry the user may not read fails with forbidden and its
// path, and a name of 4096 bytes or more with too_large.
void read_archive(FileSession& session, FileRequest& request);
// "archive_write" {path}, then a tar as bytes, then end: makes the directory and unpacks into it.
// Replies {} first, and {} again when all members are unpacked.
void write_archive(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
