#pragma once
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

// "mkdir" {path}: makes the directory and its parents; it may exist already. Replies its entry.
void make_directory(FileSession& session, FileRequest& request);
// "move" {from, to}: makes the parents of `to`, which must not be a directory. Replies the new
// entry.
void move_file(FileSession& session, FileRequest& request);
// "remove" {path, recursive}: never the root or the home itself (forbidden). Replies {}.
void remove_file(FileSession& session, FileRequest& request);

}  // namespace sandgate::agent
