#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "gateway/core/fd.hpp"

namespace sandgate {

// An exclusive lock among processes, on a file that is made for it and stays. Held until
// destruction or the end of the process, however it ends; processes that it starts do not have it.
class FileLock {
 public:
  // Empty while somebody else holds it. Throws Error(unavailable) if the file cannot be opened.
  static std::optional<FileLock> take(const std::string& path);
  // Blocks the thread until nobody else holds it; throws Error(unavailable) after `limit`.
  static FileLock wait(const std::string& path, std::chrono::milliseconds limit);

 private:
  explicit FileLock(Fd file) : file_(std::move(file)) {}

  Fd file_;
};

}  // namespace sandgate
