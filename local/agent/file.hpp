#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace sandgate::agent {

// Owns one file descriptor.
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

// openat2 that follows symlinks but never a magic link (/proc/<pid>/{fd,cwd,root,exe}); close on
// exec, never a controlling terminal. -1 with errno on failure.
int open_safely(int directory, const char* path, int flags, unsigned mode = 0);

// A regular file's bytes, at most `max` of them; empty when it cannot be read.
std::string read_small_file(const char* path, size_t max);

}  // namespace sandgate::agent
