#include "local/agent/files/tree_copy.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <vector>

#include "local/agent/files/file_tree.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kCopyBytes = 4 << 20;  // between two looks at the client

Error not_copied() { return Error::invalid("/from", "holds a device, socket or pipe"); }

// On failure the copy keeps the current time.
void keep_time(const Fd& copy, const struct stat& original) {
  const timespec times[2] = {{0, UTIME_OMIT}, original.st_mtim};
  ::futimens(copy.get(), times);
}

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Goes down by name and up by "..", in the tree and in its copy, so that two descriptors are enough
// at any depth.
class TreeCopy {
 public:
  TreeCopy(FileSession& session, const std::string& from, const std::string& to)
      : session_(session), from_path_(from), to_path_(to) {}

  void run(const Place& from, const Place& to) {
    copy(from.directory.get(), from.name, to.directory.get(), to.name);
    while (!way_.empty()) {
      std::vector<std::string>& left = way_.back().left;
      if (left.empty()) {
        leave();
        continue;
      }
      const std::string name = std::move(left.back());
      left.pop_back();
      session_.check_client();
      copy(from_.get(), name, to_.get(), name);
    }
  }

 private:
  struct Level {
    std::string name;
    struct stat original {
    }, copy{};
    std::vector<std::string> left;
  };

  // What is wrong with an entry of the tree, by errno.
  Error source_error(const std::string& name) const {
    const bool is_changed = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (way_.empty()) return path_error(from_path_);
    std::string path = from_path_;
    for (size_t i = 1; i < way_.size(); ++i) path = join(path, way_[i].name);
    path = join(path, name);
    if (!is_changed) return path_error(path);
    return Error(ErrorCode::conflict, "'" + path + "' was changed while it was moved: try again");
  }
  Error target_error() const { return path_error(to_path_); }

  void copy(int from, const std::string& name, int to, const std::string& new_name) {
    struct stat info;
    if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) throw source_error(name);
    if (S_ISREG(info.st_mode)) return copy_file(from, name, to, new_name);
    if (S_ISLNK(info.st_mode)) return copy_link(from, name, to, new_name);
    if (!S_ISDIR(info.st_mode)) throw not_copied();
    enter(from, name, to, new_name);
  }

  // It may have been replaced since it was found, by a pipe for example, whose opening would wait.
  Fd open_found(int from, const std::string& name, struct stat& info) {
    Fd file(open_safely(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!file || ::fstat(file.get(), &info) != 0) throw source_error(name);
    if (!S_ISREG(info.st_mode)) throw not_copied();
    return file;
  }

  void copy_file(int from, const std::string& name, int to, const std::string& new_name) {
    struct stat info;
    const Fd in = open_found(from, name, info);
    const Fd out(open_safely(to, new_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    if (!out) throw target_error();
    ssize_t copied = 0;
    do {
      session_.check_client();
      copied = ::sendfile(out.get(), in.get(), nullptr, kCopyBytes);
    } while (copied > 0 || (copied < 0 && errno == EINTR));
    if (copied < 0 || ::fchmod(out.get(), info.st_mode & 0777) != 0) throw target_error();
    keep_time(out, info);
  }

  void copy_link(int from, const std::string& name, int to, const std::string& new_name) {
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(from, name.c_str(), target, PATH_MAX - 1);
    if (length < 0) throw source_error(name);
    target[length] = '\0';
    if (::symlinkat(target, to, new_name.c_str()) != 0) throw target_error();
  }

  void enter(int from, const std::string& name, int to, const std::string& new_name) {
    Level level{.name = name};
    Fd source = open_directory(from, name);
    if (!source || ::fstat(source.get(), &level.original) != 0) throw source_error(name);
    if (!way_.empty() && is_same(level.original, way_.front().copy))
      throw Error::invalid("/to", "is inside the directory that is moved");
    if (::mkdirat(to, new_name.c_str(), 0700) != 0) throw target_error();
    Fd target = open_directory(to, new_name);
    if (!target || ::fstat(target.get(), &level.copy) != 0) throw target_error();
    level.left = names_in(source, from_path_);
    // There may be no way up from a directory that may only be read.
    if (level.left.empty()) return finish(target, level.original);
    from_ = std::move(source);
    to_ = std::move(target);
    way_.push_back(std::move(level));
  }

  void finish(const Fd& copy, const struct stat& original) {
    if (::fchmod(copy.get(), original.st_mode & 0777) != 0) throw target_error();
    keep_time(copy, original);
  }

  void leave() {
    finish(to_, way_.back().original);
    way_.pop_back();
    if (way_.empty()) return;
    if (!go_up(from_, way_.back().original, from_path_))
      throw Error(ErrorCode::conflict, "'" + from_path_ + "' was changed while it was moved");
    if (!go_up(to_, way_.back().copy, to_path_))
      throw Error(ErrorCode::conflict, "'" + to_path_ + "' was moved while it was made");
  }

  FileSession& session_;
  const std::string &from_path_, &to_path_;
  Fd from_, to_;
  std::vector<Level> way_;
};

}  // namespace

void copy_tree(FileSession& session, const CopyEnd& from, const CopyEnd& to) {
  TreeCopy(session, from.path, to.path).run(from.place, to.place);
}

}  // namespace sandgate::agent
