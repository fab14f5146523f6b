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
  Fd output(ends[0]), input(ends[1]);
  if (direction == Direction::to_thread) std::swap(output, input);
  end_ = std::move(output);
  thread_ = std::thread(
      [this, work = std::move(work)](const Fd end) {
        try {
          work(end.get());
        } catch (...) {
          failure_ = std::current_exception();
        }
      },
      std::move(input));
}

Pipe::~Pipe() {
  end_.reset();
  if (thread_.joinable()) thread_.join();
}

size_t Pipe::read(char* into, size_t size) {
  for (;;) {
    const ssize_t got = ::read(end_.get(), into, size);
    if (got > 0) return static_cast<size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorCode::internal, "cannot read from a pipe");
    finish();
    return 0;
  }
}

void Pipe::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(end_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      finish();
      throw Error(ErrorCode::invalid, "there is something after the archive's end");
    }
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void Pipe::finish() {
  end_.reset();
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace sandgate::cli
