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
// Names are removed in batches: all those of a large directory could exceed the sandbox's memory.
constexpr size_t kBatch = 50'000;
constexpr int kMaxBatches = 2000;  // of one directory, which a program may be filling meanwhile
constexpr int kMaxTurns = 16;  // of an entry from directory to file and back
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

Error moved_meanwhile(const std::string& path) {
  return Error(ErrorCode::conflict, "'" + path + "' was moved while it was removed");
}

// Empties a directory. Goes down by name and up by "..", so that one descriptor is enough at any
// depth.
class Emptying {
 public:
  Emptying(FileSession& session, const Place& place, std::string path)
      : session_(session), top_(std::move(path)) {
    if (!enter(place.directory.get(), place.name)) throw path_error(top_);
  }

  void run() {
    while (true) {
      session_.show_progress();
      Level& level = way_.back();
      if (level.names.names.empty()) fill(level);
      if (!level.names.names.empty()) {
        const std::string name = std::move(level.names.names.back());
        level.names.names.pop_back();
        remove(name);
      } else if (!leave()) {
        return;
      }
    }
  }

 private:
  struct Level {
    std::string name;
    struct stat self {};
    Names names;
    int batches = 1;
  };

  // The path of `name` in the current directory. A deep tree has long ones.
  std::string path_of(const std::string& name) const {
    std::string path = top_;
    for (size_t i = 1; i < way_.size(); ++i) path = join(path, way_[i].name);
    return join(path, name);
  }

  // Returns false with errno when the directory cannot be opened.
  bool enter(int parent, const std::string& name) {
    Level level{name, {}, {}};
    Fd directory = open_directory(parent, name);
    if (!directory || ::fstat(directory.get(), &level.self) != 0) return false;
    level.names = some_names_in(directory, kBatch, top_);
    here_ = std::move(directory);
    way_.push_back(std::move(level));
    return true;
  }

  void fill(Level& level) {
    if (level.names.all) return;
    if (level.batches++ == kMaxBatches)
      throw Error(ErrorCode::conflict, "'" + top_ + "' is filled while it is removed");
    level.names = some_names_in(here_, kBatch, top_);
  }

  // Removes an entry, or enters it. Others may have removed or replaced it.
  void remove(const std::string& name) {
    for (int turn = 0;; ++turn) {
      const Removal removal = remove_one(here_.get(), name);
      if (removal == Removal::done) return;
      if (removal == Removal::not_empty && enter(here_.get(), name)) return;
      if (errno == ENOENT) return;
      const bool was_replaced =
          removal == Removal::not_empty && (errno == ENOTDIR || errno == ELOOP);
      if (!was_replaced || turn == kMaxTurns) throw path_error(path_of(name));
    }
  }

  // Removes the current directory, which is empty, from the one above. Returns false at the top.
  bool leave() {
    const std::string done = std::move(way_.back().name);
    way_.pop_back();
    if (way_.empty()) return false;
    if (!go_up(here_, way_.back().self, top_)) throw moved_meanwhile(top_);
    if (::unlinkat(here_.get(), done.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    if (errno == ENOTDIR) throw moved_meanwhile(path_of(done));
    throw path_error(path_of(done));
  }

  FileSession& session_;
  const std::string top_;
  Fd here_;
  std::vector<Level> way_;
};

}  // namespace

Names some_names_in(const Fd& directory, size_t max, const std::string& path) {
  // Reading moves the position of an open directory, so the caller's descriptor is not used.
  Fd own(open_safely(directory.get(), ".", kDirectory));
  if (!own) throw path_error(path);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(own.get()), ::closedir);
  if (!open) throw path_error(path);
  own.release();
  Names found;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    found.all = found.names.size() < max;
    if (!found.all) break;
    found.names.push_back(name);
  }
  std::sort(found.names.begin(), found.names.end());
  return found;
}

std::vector<std::string> names_in(const Fd& directory, const std::string& path) {
  Names found = some_names_in(directory, kMaxNames, path);
  if (!found.all) throw Error(ErrorCode::too_large, "a directory has more than a million files");
  return std::move(found.names);
}

void remove_tree(FileSession& session, const Place& place, const std::string& path) {
  const Removal removal = remove_one(place.directory.get(), place.name);
  if (removal == Removal::failed) throw path_error(path);
  if (removal == Removal::done) return;
  Emptying(session, place, path).run();
  if (::unlinkat(place.directory.get(), place.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
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
  const Fd source = open_directory(from.directory.get(), from.name),
           target = open_directory(to.directory.get(), to.name);
  if (!source || !target) throw path_error(path);
  for (const std::string& name : names_in(source, path))
    copy_tree(child_of(source, name), child_of(target, name), join(path, name));
  if (::fchmod(target.get(), info.st_mode & 0777) != 0) throw path_error(path);
  keep_time(target, info);
}

bool go_up(Fd& here, const struct stat& parent, const std::string& path) {
  struct stat found {};
  here = open_directory(here.get(), "..");
  if (!here || ::fstat(here.get(), &found) != 0) throw path_error(path);
  return found.st_dev == parent.st_dev && found.st_ino == parent.st_ino;
}

Fd open_directory(int parent, const std::string& name) {
  return Fd(open_safely(parent, name.c_str(), kDirectory));
}

}  // namespace sandgate::agent
