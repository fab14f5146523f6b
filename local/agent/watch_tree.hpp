#pragma once
#include <map>
#include <string>
#include <vector>

#include "local/agent/file_path.hpp"

namespace sandgate::agent {

// The directories under watch: which inotify descriptor stands for which path.
class WatchTree {
 public:
  // Throws Error when the root is no directory that may be read.
  WatchTree(std::string root, bool recursive);

  int queue() const { return queue_.get(); }  // inotify's, blocking
  const std::string& root() const { return root_; }
  bool recursive() const { return recursive_; }
  // The path of a descriptor; null when it is no longer watched.
  const std::string* path_of(int watch) const;

  // Watches a directory that appeared and all below it; false when there are too many. `found` is
  // told each thing beneath it, because it may have come before the watch did.
  template <class Found>
  bool add(const std::string& path, Found found);
  bool add(const std::string& path) {
    return add(path, [](const std::string&, bool) {});
  }
  void forget(int watch) { paths_.erase(watch); }  // the kernel has dropped it
  void drop_below(const std::string& path);  // moved out of the tree
  void move(const std::string& from, const std::string& to);  // within the tree

 private:
  // -1 when it is gone, not allowed or one too many.
  int watch(const std::string& path);
  struct Child {
    std::string path;
    bool directory;
  };
  static std::vector<Child> children_of(const std::string& path);

  std::string root_;
  bool recursive_, full_ = false;
  File queue_;
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
