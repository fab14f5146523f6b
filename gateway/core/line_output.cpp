#include "gateway/core/line_output.hpp"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sandgate {
namespace {

// The kernel, or the filter of this process, does not know the call.
bool is_not_offered(int error) { return error == EOPNOTSUPP || error == ENOSYS || error == EPERM; }

}  // namespace

void LineOutput::write(std::string_view line) {
  rest_.erase(0, write_what_fits(rest_));
  if (rest_.empty() && left_out_ > 0 && begin(note_(left_out_))) left_out_ = 0;
  const bool is_next = rest_.empty() && left_out_ == 0;
  if (!is_next || !begin(line)) ++left_out_;
}

bool LineOutput::begin(std::string_view line) {
  const size_t written = write_what_fits(line);
  if (written == 0) return false;
  rest_ = line.substr(written);
  return true;
}

size_t LineOutput::write_what_fits(std::string_view text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = try_write(text.substr(written));
    if (count > 0)
      written += static_cast<size_t>(count);
    else if (count == 0 || (errno != EINTR && (errno != EAGAIN || !wait_for_room())))
      break;
  }
  return written;
}

ssize_t LineOutput::try_write(std::string_view text) const {
  struct stat state {};
  const mode_t kind = fstat(descriptor_, &state) == 0 ? state.st_mode & S_IFMT : 0;
  if (kind == S_IFSOCK)
    return send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (kind == S_IFIFO) return write_to_pipe(text);
  if (kind == S_IFCHR && !has_room(std::chrono::milliseconds(0))) {
    errno = EAGAIN;  // a terminal that is stopped
    return -1;
  }
  return ::write(descriptor_, text.data(), text.size());
}

// The mode of a pipe that others write to, too, is not ours to change: the call itself says that it
// must not wait. Kernels before 6.5 cannot; that a pipe has room means a page of it.
ssize_t LineOutput::write_to_pipe(std::string_view text) const {
  const iovec whole{const_cast<char*>(text.data()), text.size()};
  const ssize_t count = pwritev2(descriptor_, &whole, 1, -1, RWF_NOWAIT);
  if (count >= 0 || !is_not_offered(errno)) return count;
  if (has_room(std::chrono::milliseconds(0)))
    return ::write(descriptor_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

bool LineOutput::has_room(std::chrono::milliseconds wait) const {
  pollfd output{descriptor_, POLLOUT, 0};
  const int ready = poll(&output, 1, static_cast<int>(wait.count()));
  return ready > 0 || (ready < 0 && errno != EINTR);
}

bool LineOutput::wait_for_room() {
  const Instant begin = std::chrono::steady_clock::now();
  if (begin - second_ >= std::chrono::seconds(1)) {
    second_ = begin;
    waited_ = {};
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience - waited_);
  if (left.count() <= 0) return false;
  const bool room = has_room(left);
  waited_ += std::chrono::steady_clock::now() - begin;
  return room;
}

}  // namespace sandgate
