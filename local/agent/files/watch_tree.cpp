#include "local/agent/files/watch_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "gateway/core/error.hpp"
#include "local/agent/files/file_write.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxWatches = 8192;
constexpr uint32_t kEvents = IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

bool is_below(const std::string& path, const std::string& directory) {
  return path == directory ||
         path.starts_with(directory.ends_with('/') ? directory : directory + "/");
}

}  // namespace

WatchTree::WatchTree(std::string root, bool recursive)
    : root_(std::move(root)), recursive_(recursive), queue_(::inotify_init1(IN_CLOEXEC)) {
  if (!queue_) throw Error(ErrorCode::unavailable, "the sandbox has too many watches");
  root_id_ = watch(root_);
  if (root_id_ >= 0) {
    if (recursive_) watch_below(root_);
    return;
  }
  if (errno == ENOTDIR) throw Error::invalid("/path", "is no directory");
  if (errno == ENOSPC) throw Error(ErrorCode::unavailable, "the sandbox has too many watches");
  throw path_error(root_);
}

void WatchTree::watch_below(const std::string& path) {
  partial_ = false;
  for (const Child& child : children_of(path))
    if (child.directory && !add(child.path)) partial_ = true;
}

// The kernel gives a directory that is watched already the same number again.
bool WatchTree::renew() {
  const std::map<int, std::string> earlier = std::exchange(paths_, {});
  if (watch(root_) != root_id_) return false;
  if (recursive_) watch_below(root_);
  for (const auto& [id, path] : earlier)
    if (!paths_.contains(id)) ::inotify_rm_watch(queue_.get(), id);
  return true;
}

int WatchTree::watch(const std::string& path) {
  full_ = false;
  if (paths_.size() >= kMaxWatches) {
    full_ = true;
    return -1;
  }
  const int follow = path == root_ ? 0 : O_NOFOLLOW;
  const Fd directory(open_safely(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | follow));
  if (!directory) return -1;
  const int id = ::inotify_add_watch(queue_.get(), fd_path(directory).c_str(), kEvents);
  if (id < 0) {
    full_ = errno == ENOSPC;
    return -1;
  }
  paths_[id] = path;
  return id;
}

std::vector<WatchTree::Child> WatchTree::children_of(const std::string& path) {
  std::vector<Child> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(path.c_str()), ::closedir);
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || is_pending(name)) continue;
    children.push_back({join(path, name), entry->d_type == DT_DIR});
  }
  return children;
}

const std::string* WatchTree::path_of(int watch) const {
  const auto found = paths_.find(watch);
  return found == paths_.end() ? nullptr : &found->second;
}

bool WatchTree::watches(const std::string& path) const {
  return std::ranges::any_of(paths_, [&](const auto& watch) { return watch.second == path; });
}

void WatchTree::drop_below(const std::string& path) {
  for (auto at = paths_.begin(); at != paths_.end();) {
    const bool below = is_below(at->second, path);
    if (below) ::inotify_rm_watch(queue_.get(), at->first);
    at = below ? paths_.erase(at) : std::next(at);
  }
}

void WatchTree::move(const std::string& from, const std::string& to) {
  for (auto& [id, path] : paths_)
    if (is_below(path, from)) path = to + path.substr(from.size());
}

}  // namespace sandgate::agent
