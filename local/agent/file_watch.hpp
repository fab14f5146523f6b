#pragma once
#include "local/agent/file_path.hpp"
#include "local/agent/file_session.hpp"

namespace sandgate::agent {

// "watch" {path, recursive}: replies when changes are noticed, then items of
// {kind: create|write|remove|rename|overflow, path, from?, directory}, then end when the directory
// itself is gone. What the client does not take waits in the kernel's queue, which is bounded:
// beyond it comes an overflow. At most 8192 directories are watched; more is one overflow too.
void watch_files(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
