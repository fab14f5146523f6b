#include "local/agent/file_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

namespace sandgate::agent {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
constexpr size_t kCopyBytes = 1 << 30;  // per call

Error not_copied() { return Error::invalid("/from", "holds a device, socket or pipe"); }

// It may have been replaced since it was found, by a pipe for example, whose opening would wait.
Fd open_found(const Place& place, const std::string& path) {
  struct stat info;
  Fd file(
      open_safely(place.directory.get(), place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!file || ::fstat(file.get(), &info) != 0) throw path_error(path);
  if (!S_ISREG(info.st_mode)) throw not_copied();
  return file;
}

// On failure the copy keeps the current time.
void keep_time(const Fd& copy, const struct stat& original) {
  const timespec times[2] = {{0, UTIME_OMIT}, original.st_mtim};
  ::futimens(copy.get(), times);
}

void copy_file(const Place& from, const Place& to, const struct stat& info,
               const std::string& path) {
  const Fd in = open_found(from, path);
  const Fd out(open_safely(to.directory.get(), to.name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (!out) throw path_error(path);
  ssize_t copied = 0;
  do {
    copied = ::sendfile(out.get(), in.get(), nullptr, kCopyBytes);
  } while (copied > 0 || (copied < 0 && errno == EINTR));
  if (copied < 0 || ::fchmod(out.get(), info.st_mode & 0777) != 0) throw path_error(path);
  keep_time(out, info);
}

void copy_link(const Place& from, const Place& to, const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length =
      ::readlinkat(from.directory.get(), from.name.c_str(), target, PATH_MAX - 1);
  if (length < 0) throw path_error(path);
  target[length] = '\0';
  if (::symlinkat(target, to.directory.get(), to.name.c_str()) != 0) throw path_error(path);
}

Fd open_directory(const Place& place, const std::string& path) {
  Fd directory(open_safely(place.directory.get(), place.name.c_str(), kDirectory));
  if (!directory) throw path_error(path);
  return directory;
}

Place child_of(const Fd& directory, const std::string& name) {
  return {Fd(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 3)), name};
}

enum class Removal { done, not_empty, failed };

// Removes a file or an empty directory. Sets errno when it failed.
Removal remove_one(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0) return Removal::done;
  if (errno != EISDIR && errno != EPERM) return Removal::failed;
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0) return Removal::done;
  return errno == ENOTEMPTY || errno == EEXIST ? Removal::not_empty : Removal::failed;
}

// A directory that is being emptied.
struct Level {
  std::string name;
  struct stat self {};
  std::vector<std::string> left;
};

// The path of `name` at the end of the way that began at `path`.
std::string path_at(std::string path, const std::vector<Level>& way, const std::string& name) {
  for (size_t i = 1; i < way.size(); ++i) path = join(path, way[i].name);
  return join(path, name);
}

// `path` returns the path for an error: a deep tree has long ones.
template <class Path>
Level enter(int parent, const std::string& name, Fd& here, const Path& path) {
  Level level{name, {}, {}};
  here = Fd(open_safely(parent, name.c_str(), kDirectory));
  if (!here || ::fstat(here.get(), &level.self) != 0) throw path_error(path());
  level.left = names_in(here, kMaxNames, name);
  return level;
}

void go_up(Fd& here, const Level& to, const std::string& path) {
  struct stat found {};
  here = Fd(open_safely(here.get(), "..", kDirectory));
  if (!here || ::fstat(here.get(), &found) != 0) throw path_error(path);
  if (found.st_dev != to.self.st_dev || found.st_ino != to.self.st_ino)
    throw Error(ErrorCode::conflict, "'" + path + "' was moved while it was removed");
}

// Goes down by name and up by "..", so that one descriptor is enough at any depth.
void empty_directory(const Place& place, const std::string& path) {
  Fd here;
  std::vector<Level> way{enter(place.directory.get(), place.name, here, [&] { return path; })};
  while (true) {
    if (!way.back().left.empty()) {
      const std::string name = std::move(way.back().left.back());
      way.back().left.pop_back();
      const auto where = [&] { return path_at(path, way, name); };
      const Removal removal = remove_one(here.get(), name);
      if (removal == Removal::failed) throw path_error(where());
      if (removal == Removal::not_empty) way.push_back(enter(here.get(), name, here, where));
      continue;
    }
    const std::string done = std::move(way.back().name);
    way.pop_back();
    if (way.empty()) return;
    go_up(here, way.back(), path);
    if (::unlinkat(here.get(), done.c_str(), AT_REMOVEDIR) != 0) throw path_error(path);
  }
}

}  // namespace

std::vector<std::string> names_in(const Fd& directory, size_t max, const std::string& path) {
  // Reading moves the position of an open directory, so the caller's descriptor is not used.
  Fd own(open_safely(directory.get(), ".", kDirectory));
  if (!own) throw path_error(path);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(own.get()), ::closedir);
  if (!open) throw path_error(path);
  own.release();
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == max) throw Error(ErrorCode::too_large, "there are too many files");
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void remove_tree(const Place& place, const std::string& path) {
  const Removal removal = remove_one(place.directory.get(), place.name);
  if (removal == Removal::failed) throw path_error(path);
  if (removal == Removal::done) return;
  empty_directory(place, path);
  if (::unlinkat(place.directory.get(), place.name.c_str(), AT_REMOVEDIR) != 0)
    throw path_error(path);
}

void copy_tree(const Place& from, const Place& to, const std::string& path) {
  struct stat info;
  if (::fstatat(from.directory.get(), from.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    throw path_error(path);
  if (S_ISREG(info.st_mode)) return copy_file(from, to, info, path);
  if (S_ISLNK(info.st_mode)) return copy_link(from, to, path);
  if (!S_ISDIR(info.st_mode)) throw not_copied();
  if (::mkdirat(to.directory.get(), to.name.c_str(), 0700) != 0) throw path_error(path);
  const Fd source = open_directory(from, path), target = open_directory(to, path);
  for (const std::string& name : names_in(source, kMaxNames, path))
    copy_tree(child_of(source, name), child_of(target, name), join(path, name));
  if (::fchmod(target.get(), info.st_mode & 0777) != 0) throw path_error(path);
  keep_time(target, info);
}

}  // namespace sandgate::agent
