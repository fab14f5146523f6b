#include "local/agent/files/file_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace sandgate::agent {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
// Names are removed in batches: all those of a large directory could exceed the sandbox's memory.
constexpr size_t kBatch = 50'000;
constexpr int kMaxBatches = 2000;  // of one directory, which a program may be filling meanwhile
constexpr int kMaxTurns = 16;  // of an entry from directory to file and back

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
