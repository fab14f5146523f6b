#include "local/agent/file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sandgate::agent {

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void File::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int open_safely(int directory, const char* path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY));
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  how.mode = creates ? mode : 0;  // openat2 refuses a mode for a file that it does not create
  how.resolve = RESOLVE_NO_MAGICLINKS;
  // openat2 may fail with EAGAIN during a concurrent rename.
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN || attempt == 16) return static_cast<int>(fd);
  }
}

std::string read_small_file(const char* path, size_t max) {
  const File file(open_safely(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
  struct stat info;
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  // Files of procfs report size 0, so read at least 4096 bytes.
  if (info.st_size >= 0) max = std::min(max, std::max<size_t>(info.st_size, 4096));
  std::string text(max, '\0');
  size_t have = 0;
  while (have < max) {
    const ssize_t got = ::read(file.get(), text.data() + have, max - have);
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  return text;
}

}  // namespace sandgate::agent
