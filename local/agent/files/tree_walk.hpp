#pragma once
#include <sys/stat.h>

#include <string>
#include <vector>

#include "local/agent/files/file_path.hpp"

namespace sandgate::agent {

// A pre-order traversal of a directory tree, with the names of each directory sorted. It goes down
// by name and up by "..", so one descriptor is enough at any depth.
class TreeWalk {
 public:
  // `path` names the directory in errors. `directory` is duplicated. Throws Error.
  TreeWalk(const Fd& directory, std::string path);

  // Advances to the next entry; false at the end. Throws Error: conflict when a directory on the
  // way was moved meanwhile, forbidden when its ".." may not be opened.
  bool next();
  const Fd& directory() const { return here_; }  // that holds the entry
  const std::string& name() const { return name_; }  // in directory()
  const std::string& relative() const { return relative_; }  // to the top: "a/b"
  std::string path() const { return join(path_, relative_); }
  // Descends into the current entry, a directory opened as `entry`. Throws Error, too_large when it
  // has more than kMaxNames names.
  void enter(Fd entry);

 private:
  struct Level {
    struct stat self {};
    std::vector<std::string> names;
    size_t next = 0;
    std::string prefix;  // of its entries' relative paths
  };
  void push(const std::string& prefix, std::vector<std::string> names);
  void go_up();

  const std::string path_;
  Fd here_;
  std::string name_, relative_;
  std::vector<Level> way_;
};

}  // namespace sandgate::agent
