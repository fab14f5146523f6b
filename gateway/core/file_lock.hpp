#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace sandgate {

// An exclusive lock among processes, on a file that is made for it and stays. Held until
// destruction or the end of the process, however it ends; processes that it starts do not have it.
class FileLock {
 public:
  // Empty while somebody else holds it. Throws Error(unavailable) if the file cannot be opened.
  static std::optional<FileLock> take(const std::string& path);
  // Blocks the thread until nobody else holds it; throws Error(unavailable) after `limit`.
  static FileLock wait(const std::string& path, std::chrono::milliseconds limit);

  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;
};

}  // namespace sandgate
