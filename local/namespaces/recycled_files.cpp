#include "local/namespaces/recycled_files.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>

namespace sandgate {
namespace {

// The kernel grants a write lease only to the sole opener of a file.
bool is_open_here_only(int file) {
  return fcntl(file, F_SETLEASE, F_WRLCK) == 0 && fcntl(file, F_SETLEASE, F_UNLCK) == 0;
}

}  // namespace

RecycledFiles::RecycledFiles(const std::string& directory) : directory_(directory) {
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(directory_);
}

RecycledFiles::~RecycledFiles() { drop_unused(Instant::max()); }

bool RecycledFiles::put(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (names_.size() >= kMaxFiles) return false;
  }
  const Fd file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file || !is_open_here_only(file.get()) || ftruncate(file.get(), 0) != 0) return false;
  std::string name = next_name();
  if (rename(path.c_str(), name.c_str()) != 0) return false;
  const std::lock_guard lock(mutex_);
  names_.push_back(std::move(name));
  used_ = std::chrono::steady_clock::now();
  return true;
}

Fd RecycledFiles::take(const std::string& path) {
  const std::string name = pop();
  if (name.empty()) return {};
  if (renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    unlink(name.c_str());
    return {};
  }
  Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) unlink(path.c_str());
  return file;
}

void RecycledFiles::drop_unused(Instant now) {
  std::vector<std::string> unused;
  {
    const std::lock_guard lock(mutex_);
    if (now - used_ >= kKept) unused.swap(names_);
  }
  for (const std::string& name : unused) unlink(name.c_str());
}

std::string RecycledFiles::next_name() {
  const std::lock_guard lock(mutex_);
  return directory_ + "/" + std::to_string(++made_);
}

std::string RecycledFiles::pop() {
  const std::lock_guard lock(mutex_);
  if (names_.empty()) return "";
  std::string name = std::move(names_.back());
  names_.pop_back();
  used_ = std::chrono::steady_clock::now();
  return name;
}

}  // namespace sandgate
