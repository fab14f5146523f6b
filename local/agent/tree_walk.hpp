#pragma once
#include <sys/stat.h>

#include <string>
#include <vector>

#include "local/agent/file_path.hpp"

namespace sandgate::agent {

// Everything in a directory: a directory before what is in it, the names of each in order. However
// deep it is, with one descriptor: down by names, up by "..".
class TreeWalk {
 public:
  // `path` is what errors call the directory, which may be closed afterwards.
  TreeWalk(const File& directory, std::string path);

  // The next entry; false: there is none. Throws Error(conflict) when a directory on the way was
  // moved meanwhile, and what it may not go back through is forbidden.
  bool next();
  const File& directory() const { return here_; }  // the entry's
  const std::string& name() const { return name_; }  // in it
  const std::string& relative() const { return relative_; }  // from the top: "a/b"
  std::string path() const { return join(path_, relative_); }
  // Goes on with what is in the entry, a directory that is open here. Throws Error, too_large when
  // it holds too many.
  void enter(File entry);

 private:
  struct Level {
    struct stat self {};
    std::vector<std::string> names;
    size_t next = 0;
    std::string prefix;  // of what is in it, from the top
  };
  void push(const std::string& prefix, std::vector<std::string> names);
  void go_up();

  const std::string path_;
  File here_;
  std::string name_, relative_;
  std::vector<Level> way_;
};

}  // namespace sandgate::agent
