#pragma once
#include <map>
#include <string>
#include <vector>

#include "local/agent/files/file_path.hpp"

namespace sandgate::agent {

// The set of directories watched by one inotify instance: a map of watch descriptors to paths.
class WatchTree {
 public:
  // Throws Error when the root is not a readable directory or the kernel's limits are reached.
  WatchTree(std::string root, bool recursive);

  // Whether there were more directories than can be watched when the tree was last looked through:
  // by the constructor or renew().
  bool is_partial() const { return partial_; }
  // Looks through the tree again, because events were lost: watches the directories that are there,
  // under their paths of now, and no others. Returns false when the root is gone or replaced.
  bool renew();

  int queue() const { return queue_.get(); }  // the inotify descriptor; reads block
  const std::string& root() const { return root_; }
  bool recursive() const { return recursive_; }
  // The path of a watch descriptor; null when it is no longer watched.
  const std::string* path_of(int watch) const;

  bool watches(const std::string& path) const;  // a directory

  // Watches a new directory and all directories below it. Returns false at the limit of watches.
  // Calls found(path, is_directory) for every entry below it, because entries made before the watch
  // raise no event.
  template <class Found>
  bool add(const std::string& path, Found found);
  bool add(const std::string& path) {
    return add(path, [](const std::string&, bool) {});
  }
  void forget(int watch) { paths_.erase(watch); }  // after the kernel removed the watch
  void drop_below(const std::string& path);  // `path` has left the tree
  void move(const std::string& from, const std::string& to);  // renames paths within the tree

 private:
  // Returns -1 when the directory is gone or not accessible, or at the limit of watches.
  int watch(const std::string& path);
  struct Child {
    std::string path;
    bool directory;
  };
  static std::vector<Child> children_of(const std::string& path);

  void watch_below(const std::string& path);  // sets partial_

  std::string root_;
  int root_id_ = -1;
  bool recursive_, full_ = false, partial_ = false;
  Fd queue_;
  std::map<int, std::string> paths_;
};

template <class Found>
bool WatchTree::add(const std::string& path, Found found) {
  std::vector<std::string> waiting{path};
  while (!waiting.empty()) {
    const std::string at = std::move(waiting.back());
    waiting.pop_back();
    if (watch(at) < 0) {
      if (full_) return false;
      continue;
    }
    for (const Child& child : children_of(at)) {
      found(child.path, child.directory);
      if (child.directory) waiting.push_back(child.path);
    }
  }
  return true;
}

}  // namespace sandgate::agent
