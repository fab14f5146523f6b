#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace sandgate::agent {

// Owns a file descriptor.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept;
  ~File() { reset(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Opens a path with openat2, following symlinks but never magic links (/proc/<pid>/{fd,cwd,root,
// exe}), and nothing in procfs that tells this process's memory layout. The descriptor is
// close-on-exec and never becomes a controlling terminal. Returns -1 with errno on failure.
int open_safely(int directory, const char* path, int flags, unsigned mode = 0);

// Returns a regular file's bytes, at most `max`; empty when it cannot be read.
std::string read_small_file(const char* path, size_t max);

}  // namespace sandgate::agent
