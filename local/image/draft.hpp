#pragma once
#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <string>

#include "local/image/store.hpp"

namespace sandgate {

// A directory of ImageStore::make_draft(), held and removed with this object. That takes a
// descriptor for each level of its trees, which are at most kMaxDepth deep, and a bounded stack.
class Draft {
 public:
  explicit Draft(const ImageStore& store)
      : path_(store.make_draft()), lock_(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    flock(lock_.get(), LOCK_EX);
  }
  Draft(const Draft&) = delete;
  ~Draft() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string below(const char* name) const { return path_ + "/" + name; }

 private:
  const std::string path_;
  const Fd lock_;
};

}  // namespace sandgate
