#pragma once
#include "local/agent/file_path.hpp"
#include "local/agent/file_session.hpp"

namespace sandgate::agent {

// "mkdir" {path}: with parents; an existing directory is fine. Replies its entry.
void make_directory(FileSession& session, FileRequest& request);
// "move" {from, to}: the parents of `to` are made; never onto a directory. Replies the new entry.
void move_file(FileSession& session, FileRequest& request);
// "remove" {path, recursive}: replies {}.
void remove_file(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
