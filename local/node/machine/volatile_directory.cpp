#include "local/node/machine/volatile_directory.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr std::array kMemory = {"/run", "/dev/shm"};
constexpr size_t kNameBytes = 8;

bool in_memory(const std::string& path) {
  struct statfs status {};
  return statfs(path.c_str(), &status) == 0 && status.f_type == TMPFS_MAGIC;
}

// Only for root: systemd-logind may remove files of other users on logout.
bool takes_directories(const std::string& path) {
  return geteuid() == 0 && in_memory(path) && access(path.c_str(), W_OK) == 0;
}

// Other users may write to /dev/shm, so only a real directory of this user is accepted.
bool is_ours(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

// Returns an empty path when no tmpfs can be used. The random name cannot be occupied in advance.
std::string make_in_memory() {
  for (const std::string base : kMemory) {
    const std::string made = base + "/sandgate-" + random_hex(kNameBytes);
    if (takes_directories(base) && mkdir(made.c_str(), 0711) == 0) return made;
  }
  return "";
}

bool has_content(const std::string& path) {
  std::error_code absent;
  return fs::is_directory(path, absent) && !fs::is_empty(path);
}

}  // namespace

bool has_volatile_memory() { return std::ranges::any_of(kMemory, takes_directories); }

void make_volatile_directory(const std::string& path) {
  if (fs::is_symlink(path)) {
    if (is_ours(fs::read_symlink(path))) return;
    fs::remove(path);  // its target did not survive the last boot
  }
  const bool stays = has_content(path) || in_memory(fs::path(path).parent_path());
  const std::string memory = stays ? "" : make_in_memory();
  if (memory.empty()) {
    fs::create_directories(path);
    return;
  }
  fs::remove(path);
  fs::create_directory_symlink(memory, path);
}

void remove_volatile_directory(const std::string& path) noexcept {
  std::error_code ignored;
  const fs::path memory = fs::read_symlink(path, ignored);
  // rmdir fails on a directory that is not empty.
  if (!memory.empty() && rmdir(memory.c_str()) == 0) fs::remove(path, ignored);
}

}  // namespace sandgate
