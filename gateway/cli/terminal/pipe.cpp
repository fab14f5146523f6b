#include "gateway/cli/terminal/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "gateway/core/error.hpp"

namespace sandgate::cli {

Pipe::Pipe(Direction direction, std::function<void(int fd)> work) {
  // Writing to a closed pipe must return an error instead of ending the program.
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorCode::internal, "cannot make a pipe");
  const bool from = direction == Direction::from_thread;
  fd_ = from ? ends[0] : ends[1];
  const int other = from ? ends[1] : ends[0];
  thread_ = std::thread([this, other, work = std::move(work)] {
    try {
      work(other);
    } catch (...) {
      failure_ = std::current_exception();
    }
    ::close(other);
  });
}

Pipe::~Pipe() {
  close_end();
  if (thread_.joinable()) thread_.join();
}

void Pipe::close_end() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

size_t Pipe::read(char* into, size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd_, into, size);
    if (got > 0) return static_cast<size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorCode::internal, "cannot read from a pipe");
    finish();
    return 0;
  }
}

void Pipe::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      finish();
      throw Error(ErrorCode::invalid, "there is something after the archive's end");
    }
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void Pipe::finish() {
  close_end();
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace sandgate::cli
