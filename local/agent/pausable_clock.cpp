#include "local/agent/pausable_clock.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>

#include "gateway/core/error.hpp"
#include "local/agent/pause_signal.hpp"

namespace sandgate::agent {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

}  // namespace

PausableClock::PausableClock() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, kPauseSignal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  pauses_ = Fd(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!pauses_) throw Error(ErrorCode::internal, "the agent has no signal descriptor");
}

// Root inside the sandbox can send the signal, too, with any value: that stops its own limits only.
bool PausableClock::take_pauses() {
  bool any = false;
  signalfd_siginfo info;
  while (::read(pauses_.get(), &info, sizeof info) == sizeof info) {
    const auto most = std::chrono::floor<microseconds>(steady_clock::now() - began_ - paused_);
    paused_ += std::clamp(microseconds(static_cast<int64_t>(info.ssi_ptr)), microseconds(0), most);
    any = true;
  }
  return any;
}

// A pause may come between reading the time and looking for pauses, hence the second look.
PausableClock::Instant PausableClock::now() {
  Instant time;
  do {
    time = steady_clock::now();
  } while (take_pauses());
  return latest_ = std::max(latest_, time - paused_);
}

bool PausableClock::is_readable_within(int file, milliseconds limit) {
  const Instant until = now() + limit;
  pollfd ready{file, POLLIN, 0};
  for (auto left = limit; left.count() > 0; left = std::chrono::ceil<milliseconds>(until - now()))
    if (::poll(&ready, 1, static_cast<int>(left.count())) == 1) return true;
  return false;
}

}  // namespace sandgate::agent
