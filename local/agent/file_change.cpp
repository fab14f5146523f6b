#include "local/agent/file_change.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "local/agent/file_tree.hpp"

namespace sandgate::agent {
namespace {

bool is_directory(const Place& place) {
  struct stat info;
  return ::fstatat(place.directory.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode);
}

// Moves by copying, for paths on different file systems.
void move_across(const Place& from, const Place& to, const std::string& path) {
  struct stat info;
  const int there = ::fstatat(to.directory.get(), to.name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
  if (there == 0 && ::unlinkat(to.directory.get(), to.name.c_str(), 0) != 0) throw path_error(path);
  try {
    copy_tree(from, to, path);
  } catch (const Error&) {
    remove_tree(to, path);
    throw;
  }
  remove_tree(from, path);
}

}  // namespace

void make_directory(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  request.finish();
  make_directories(path);
  session.reply(describe(open_place(path, false), path));
}

void move_file(FileSession& session, FileRequest& request) {
  const std::string from = request.path("from"), to = request.path("to");
  request.finish();
  const Place source = open_place(from, false);
  describe(source, from);  // throws for a missing source, before parents of `to` are made
  const Place target = open_place(to, true);
  if (from != to && is_directory(target)) {
    errno = EEXIST;
    throw path_error(to);
  }
  if (::renameat(source.directory.get(), source.name.c_str(), target.directory.get(),
                 target.name.c_str()) != 0) {
    if (errno == ENOTDIR) errno = EEXIST;  // a directory cannot replace a file
    if (errno != EXDEV) throw path_error(from);
    move_across(source, target, to);
  }
  session.reply(describe(target, to));
}

void remove_file(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  const bool recursive = request.reader.boolean("recursive").value_or(false);
  request.finish();
  if (path == "/" || path == request.home)
    throw Error(ErrorCode::forbidden, "the root and the home stay");
  const Place place = open_place(path, false);
  if (recursive) {
    remove_tree(place, path);
  } else {
    const int kind = is_directory(place) ? AT_REMOVEDIR : 0;
    if (::unlinkat(place.directory.get(), place.name.c_str(), kind) != 0) throw path_error(path);
  }
  session.reply(nlohmann::json::object());
}

}  // namespace sandgate::agent
