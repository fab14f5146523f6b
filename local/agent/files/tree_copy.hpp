#pragma once
#include <string>

#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_session.hpp"

namespace sandgate::agent {

// Where a tree is copied from or to, and the path of it that errors name.
struct CopyEnd {
  const Place& place;
  const std::string& path;
};

// Copies a file, directory or symlink to a name that does not exist yet, however deep it is. Shows
// its progress. Throws Error: invalid for devices, sockets and pipes and for a copy into the tree
// itself, conflict when the tree is changed meanwhile, unavailable when the client leaves. What was
// copied until then is left.
void copy_tree(FileSession& session, const CopyEnd& from, const CopyEnd& to);

}  // namespace sandgate::agent
