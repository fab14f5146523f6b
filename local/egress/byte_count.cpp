#include "local/egress/byte_count.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "local/namespaces/step_error.hpp"

namespace sandgate::egress {

Fd open_byte_count(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  Fd file = check_fd(open(path.c_str(), flags, 0600), "open byte count");
  // Room beforehand: a full disk must not end the process that writes through memory.
  const int failure = posix_fallocate(file.get(), 0, sizeof(int64_t));
  if (failure != 0) throw StepError("make byte count", failure);
  return file;
}

// By a call and not through memory: the other process could take the file from under a mapping.
int64_t read_byte_count(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return 0;
  int64_t count = 0;
  // A count taken for less than it is would be charged for twice.
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
