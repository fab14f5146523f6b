#include "local/agent/files/file_change.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "local/agent/files/file_tree.hpp"
#include "local/agent/files/file_write.hpp"
#include "local/agent/files/tree_copy.hpp"

namespace sandgate::agent {
namespace {

bool is_directory(const Place& place) {
  struct stat info;
  return ::fstatat(place.directory.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode);
}

// Returns false with errno on failure.
bool rename_place(const Place& from, const Place& to) {
  const int failed =
      ::renameat(from.directory.get(), from.name.c_str(), to.directory.get(), to.name.c_str());
  if (failed && errno == ENOTDIR) errno = EEXIST;  // a directory cannot replace a file
  return !failed;
}

// Which of the two paths a failed rename is about (errno, which stays): whose directory may not be
// changed, or has no room.
const std::string& path_at_fault(const Place& source, const std::string& from,
                                 const std::string& to) {
  const int failure = errno;
  const bool is_refusal = failure == EACCES || failure == EPERM || failure == EROFS;
  const bool may_leave = ::faccessat(source.directory.get(), ".", W_OK | X_OK, AT_EACCESS) == 0;
  errno = failure;
  if (failure == ENOENT) return from;
  return is_refusal && !may_leave ? from : to;
}

// Whether an entry may be taken out of its directory; false with errno.
bool may_remove(const Place& place) {
  if (::faccessat(place.directory.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return false;
  struct stat directory, entry;
  if (::fstat(place.directory.get(), &directory) != 0 ||
      ::fstatat(place.directory.get(), place.name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  const uid_t own = ::geteuid();
  if (!(directory.st_mode & S_ISVTX) || own == 0 || own == directory.st_uid || own == entry.st_uid)
    return true;
  errno = EPERM;
  return false;
}

// What is wrong with the file itself is wrong with the member that names it.
Place open_source(const std::string& from) {
  try {
    Place source = open_place(from);
    describe(source, from);  // throws for a missing source, before parents of the target are made
    return source;
  } catch (Error& error) {
    for (FieldProblem& field : error.fields)
      if (field.path == "/path") field.path = "/from";
    throw;
  }
}

void discard(FileSession& session, const Place& copy, const std::string& path) {
  try {
    remove_tree(session, copy, path);
  } catch (const Error&) {
    // The failure that made it useless is the one to tell.
  }
}

// The first half of a move between file systems. The copy takes the name only once it is whole, so
// whatever has the name stays when anything fails.
void copy_across(FileSession& session, const CopyEnd& from, const CopyEnd& end) {
  const Place& to = end.place;
  const bool replaces =
      ::faccessat(to.directory.get(), to.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  const Place copy{Fd(::fcntl(to.directory.get(), F_DUPFD_CLOEXEC, 3)), pending_name(replaces)};
  try {
    copy_tree(session, from, {copy, end.path});
    if (!rename_place(copy, to)) throw path_error(end.path);
  } catch (const Error&) {
    discard(session, copy, end.path);
    throw;
  }
}

}  // namespace

void make_directory(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  request.finish();
  make_directories(path);
  session.reply(describe(open_place(path), path));
}

void move_file(FileSession& session, FileRequest& request) {
  const std::string from = request.path("from"), to = request.path("to");
  request.finish();
  const Place source = open_source(from);
  const Place target = make_place(to);
  if (from != to && is_directory(target)) {
    errno = EEXIST;
    throw path_error(to);
  }
  if (!rename_place(source, target)) {
    if (errno == EINVAL) throw Error::invalid("/to", "is inside the directory that is moved");
    if (errno != EXDEV) throw path_error(path_at_fault(source, from, to));
    if (!may_remove(source)) throw path_error(from);
    copy_across(session, {source, from}, {target, to});
    remove_tree(session, source, from);
  }
  session.reply(describe(target, to));
}

void remove_file(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  const bool recursive = request.reader.boolean("recursive").value_or(false);
  request.finish();
  if (path == "/" || path == request.home)
    throw Error(ErrorCode::forbidden, "the root and the home stay");
  const Place place = open_place(path);
  if (recursive) {
    remove_tree(session, place, path);
  } else {
    const int kind = is_directory(place) ? AT_REMOVEDIR : 0;
    const bool removed = ::unlinkat(place.directory.get(), place.name.c_str(), kind) == 0;
    if (!removed && (errno == ENOTEMPTY || errno == EEXIST))
      throw Error(ErrorCode::conflict, "'" + path + "' is a directory that is not empty: with" +
                                           " recursive=true it is deleted with all in it");
    if (!removed) throw path_error(path);
  }
  session.reply(nlohmann::json::object());
}

}  // namespace sandgate::agent
