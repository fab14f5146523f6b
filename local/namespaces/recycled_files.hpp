#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"

namespace sandgate {

// Empty files that were images of disks and are to be again. ext4 without a journal takes 0.7 ms to
// make a file where others were deleted within the last five seconds, since it looks for an inode
// that was not. Thread-safe.
class RecycledFiles {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr size_t kMaxFiles = 64;
  static constexpr std::chrono::seconds kKept{5};  // after the last use of any

  // Keeps them in `directory`, which it creates. Removes those of an earlier process: a power cut
  // may have undone that they were emptied.
  explicit RecycledFiles(const std::string& directory);
  ~RecycledFiles();  // removes them

  // Empties the file at `path` and takes it. False: it stays, since somebody else has it open (as
  // the loop device of a mounted disk has), it cannot be emptied, or there are enough.
  bool put(const std::string& path);
  // Moves a file to `path`, unless something is there, and opens it for reading and writing. Empty:
  // there is none, or it could not be moved or opened; then it is removed.
  Fd take(const std::string& path);
  // Removes all when none was put or taken for kKept. To be called about every second.
  void drop_unused(Instant now = std::chrono::steady_clock::now());

 private:
  std::string next_name();
  std::string pop();  // empty: none

  const std::string directory_;
  std::mutex mutex_;
  std::vector<std::string> names_;
  Instant used_;
  uint64_t made_ = 0;
};

}  // namespace sandgate
