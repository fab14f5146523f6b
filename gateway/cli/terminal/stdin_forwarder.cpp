#include "gateway/cli/terminal/stdin_forwarder.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "gateway/cli/terminal/interrupt.hpp"

namespace sandgate::cli {
namespace {

constexpr size_t kMaxBytes = 1 << 20, kReadBytes = 64 << 10;
constexpr int kGatherMs = 5;  // so that a fast writer's pipe does not become a request per 64 KiB
constexpr int kUsualWaitMs = 500;

// Whether nothing was written: of a backend's refusal, only a part might be.
bool may_repeat(const Error& error) {
  return error.code == ErrorCode::rate_limited && !error.details.contains("provider");
}

int wait_of(const Error& error) {
  const Json wait = error.details.value("retry_after_ms", Json());
  return wait.is_number_integer() ? std::max(1, wait.get<int>()) : kUsualWaitMs;
}

}  // namespace

StdinForwarder::StdinForwarder(const Client& client)
    : client_(client), wake_(::eventfd(0, EFD_CLOEXEC)) {}

StdinForwarder::~StdinForwarder() {
  stopping_ = true;
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void StdinForwarder::start(std::string path) {
  thread_ = std::thread([this, path = std::move(path)] { run(path); });
}

void StdinForwarder::close(std::string path) {
  thread_ = std::thread([this, path = std::move(path)] {
    block_interrupts();
    try {
      client_.remove(path);
    } catch (const Error&) {
      return;  // it has ended, or its backend gives it no input
    }
  });
}

void StdinForwarder::check() const {
  if (failed_) std::rethrow_exception(failure_);
}

void StdinForwarder::check_goes_on() const {
  if (stopping_) throw Error(ErrorCode::conflict, "the program has ended");
}

void StdinForwarder::run(const std::string& path) {
  block_interrupts();  // the main thread's transfer is to notice them
  try {
    while (const auto piece = next_piece()) send(path, *piece);
    check_goes_on();
    client_.remove(path);
  } catch (const Error& error) {
    if (error.code == ErrorCode::conflict || error.code == ErrorCode::not_found) return;
    failure_ = std::current_exception();
    failed_ = true;
  }
}

void StdinForwarder::send(const std::string& path, const std::string& piece) const {
  for (;;) {
    try {
      client_.call({.method = "POST",
                    .path = path,
                    .content_type = "application/octet-stream",
                    .text = piece,
                    .on_progress = [this](uint64_t, uint64_t) { check_goes_on(); }});
      return;
    } catch (const Error& error) {
      if (!may_repeat(error)) throw;
      pollfd woken{wake_.get(), POLLIN, 0};
      ::poll(&woken, 1, wait_of(error));
    }
    check_goes_on();
  }
}

bool StdinForwarder::wait(int milliseconds) const {
  pollfd seen[] = {{STDIN_FILENO, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  while (::poll(seen, 2, milliseconds) < 0)
    if (errno != EINTR) return true;  // reading says why
  return seen[0].revents != 0 && seen[1].revents == 0;
}

std::optional<std::string> StdinForwarder::next_piece() {
  std::string piece;
  while (!ended_ && piece.size() < kMaxBytes && wait(piece.empty() ? -1 : kGatherMs)) {
    const size_t before = piece.size();
    piece.resize(before + kReadBytes);
    const ssize_t got = ::read(STDIN_FILENO, piece.data() + before, kReadBytes);
    piece.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got < 0 && errno != EINTR) throw Error(ErrorCode::invalid, "cannot read standard input");
    ended_ = got == 0;
  }
  if (piece.empty()) return std::nullopt;
  return piece;
}

}  // namespace sandgate::cli
