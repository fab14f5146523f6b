#include "local/egress/byte_count.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "local/namespaces/step_error.hpp"

namespace sandgate::egress {

Fd open_byte_count(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  Fd file = check_fd(open(path.c_str(), flags, 0600), "open byte count");
  // Allocate now: writing through a mapping on a full disk would kill the process with SIGBUS.
  const int failure = posix_fallocate(file.get(), 0, sizeof(int64_t));
  if (failure == 0) return file;
  // Left empty, it would be a count that cannot be read.
  struct stat status {};
  if (fstat(file.get(), &status) == 0 && status.st_size == 0) unlink(path.c_str());
  throw StepError("make byte count", failure);
}

// Not through a mapping: the other process could truncate the file, and the access would fault.
int64_t read_byte_count(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return 0;
  int64_t count = 0;
  // Too low a count would make the same bytes be charged twice.
  if (!file || pread(file.get(), &count, sizeof count, 0) != sizeof count)
    throw StepError("read byte count", errno);
  return count;
}

ByteCount::ByteCount(Fd file) {
  void* place = mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (place == MAP_FAILED) throw StepError("map byte count", errno);
  shared_ = static_cast<int64_t*>(place);
}

ByteCount::~ByteCount() { munmap(shared_, sizeof(int64_t)); }

void ByteCount::add(size_t bytes) {
  std::atomic_ref<int64_t>(*shared_).fetch_add(static_cast<int64_t>(bytes),
                                               std::memory_order_relaxed);
}

}  // namespace sandgate::egress
