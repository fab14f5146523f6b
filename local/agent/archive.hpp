#pragma once
#include "local/agent/file_path.hpp"
#include "local/agent/file_session.hpp"

namespace sandgate::agent {

// "archive_read" {path}: replies {}, then a tar of the directory's content (names relative to it)
// or of the one file as bytes, then end. Devices, pipes and sockets are left out. What may not be
// read is Error(forbidden) with its path instead of {}, wherever it stands in the directory, and
// too_large where a name has more bytes than a path may have.
void read_archive(FileSession& session, FileRequest& request);
// "archive_write" {path}, then a tar as bytes, then end: unpacks into the directory, which is made.
// Replies {} first, and {} when all is there.
void write_archive(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
