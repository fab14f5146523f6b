#pragma once
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

// "watch" {path, recursive}: replies {} once the watch is active, then sends items of
// {kind: create|write|remove|rename|overflow, path, type, from?}, the type as type_name() tells it,
// then end when the directory itself is gone. A file that is written through the agent is told once
// it is whole: as create and write, or as write when it replaces another. Several writes of one
// file within a twentieth of a second are one. Changes that the client does not read, and those
// beyond 512 KiB of items at once and then 256 KiB a second, stay in the kernel's bounded queue;
// when it is full, changes are lost and an overflow is sent. At most 8192 directories are watched;
// a new one beyond that is reported as an overflow, too.
void watch_files(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
