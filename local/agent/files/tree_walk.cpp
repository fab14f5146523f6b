#include "local/agent/files/tree_walk.hpp"

#include <fcntl.h>

#include "local/agent/files/file_tree.hpp"

namespace sandgate::agent {

TreeWalk::TreeWalk(const Fd& directory, std::string path)
    : path_(std::move(path)), here_(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 3)) {
  if (!here_) throw path_error(path_);
  push("", names_in(here_, path_));
}

bool TreeWalk::next() {
  while (way_.back().next == way_.back().names.size()) {
    if (way_.size() == 1) return false;
    way_.pop_back();
    go_up();
  }
  Level& level = way_.back();
  name_ = std::move(level.names[level.next++]);
  relative_ = level.prefix + name_;
  return true;
}

void TreeWalk::enter(Fd entry) {
  auto names = names_in(entry, path());
  here_ = std::move(entry);
  push(relative_ + "/", std::move(names));
}

void TreeWalk::push(const std::string& prefix, std::vector<std::string> names) {
  Level level{.names = std::move(names), .prefix = prefix};
  if (::fstat(here_.get(), &level.self) != 0) throw path_error(path_);
  way_.push_back(std::move(level));
}

void TreeWalk::go_up() {
  struct stat found {};
  const struct stat& wanted = way_.back().self;
  here_ = Fd(open_safely(here_.get(), "..", O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  if (!here_ || ::fstat(here_.get(), &found) != 0) throw path_error(path());
  if (found.st_dev != wanted.st_dev || found.st_ino != wanted.st_ino)
    throw Error(ErrorCode::conflict, "'" + path() + "' was moved while it was read");
}

}  // namespace sandgate::agent
