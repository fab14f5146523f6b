#include "gateway/core/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cstring>
#include <thread>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kLockPause{5};

Error lock_failed(const std::string& path, int reason) {
  return Error(ErrorCode::unavailable, "cannot lock " + path + ": " + std::strerror(reason));
}

}  // namespace

std::optional<FileLock> FileLock::take(const std::string& path) {
  Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw lock_failed(path, errno);
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return FileLock(std::move(file));
  if (errno != EWOULDBLOCK) throw lock_failed(path, errno);
  return std::nullopt;
}

FileLock FileLock::wait(const std::string& path, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (auto lock = take(path)) return std::move(*lock);
    if (std::chrono::steady_clock::now() >= until)
      throw Error(ErrorCode::unavailable, "another process holds " + path);
    std::this_thread::sleep_for(kLockPause);
  }
}

}  // namespace sandgate
