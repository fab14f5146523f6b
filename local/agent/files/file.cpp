#include "local/agent/files/file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace sandgate::agent {
namespace {

// Whether this entry of procfs tells where things are in this process's memory. The layout is that
// of the agent, and of others that were copied from the same zygote.
bool tells_layout(int fd) {
  constexpr std::string_view kTelling[] = {"auxv",      "map_files", "maps",    "mem",
                                           "numa_maps", "pagemap",   "smaps",   "smaps_rollup",
                                           "stack",     "stat",      "syscall", "environ"};
  struct statfs system;
  if (::fstatfs(fd, &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return false;
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  const std::string_view name(path, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  const std::string own = "/" + std::to_string(::getpid()) + "/";
  return name.find(own) != name.npos &&
         std::ranges::find(kTelling, name.substr(name.rfind('/') + 1)) != std::end(kTelling);
}

}  // namespace

int open_safely(int directory, const char* path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY));
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  how.mode = creates ? mode : 0;  // openat2 refuses a mode for a file that it does not create
  how.resolve = RESOLVE_NO_MAGICLINKS;
  // openat2 may fail with EAGAIN during a concurrent rename.
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd < 0 && errno == EAGAIN && attempt < 16) continue;
    if (fd < 0 || !tells_layout(static_cast<int>(fd))) return static_cast<int>(fd);
    ::close(static_cast<int>(fd));
    errno = EACCES;
    return -1;
  }
}

std::string read_small_file(const char* path, size_t max) {
  const Fd file(open_safely(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
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
