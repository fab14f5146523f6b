#include "gateway/cli/terminal/interrupt.hpp"

#include <csignal>

#include <atomic>

namespace sandgate::cli {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> interrupt_seen{0}, interrupts_seen{0};
static_assert(std::atomic<int>::is_always_lock_free);

void mask_interrupts(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : kInterrupts) sigaddset(&signals, one);
  pthread_sigmask(how, &signals, nullptr);
}

void note(int number) {
  interrupt_seen = number;
  ++interrupts_seen;
}

bool is_under_nohup() {
  struct sigaction now = {};
  return sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

int interrupt_signal() { return interrupt_seen; }

int interrupts() { return interrupts_seen; }

void block_interrupts() { mask_interrupts(SIG_BLOCK); }

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note;
  const bool hangs_on = is_under_nohup();
  for (const int one : kInterrupts)
    if (one != SIGHUP || !hangs_on) sigaction(one, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  mask_interrupts(SIG_UNBLOCK);
}

void note_broken_pipe() { note(SIGPIPE); }

void reset_interrupts() {
  interrupt_seen = interrupts_seen = 0;
  const bool hangs_on = is_under_nohup();
  for (const int one : kInterrupts)
    if (one != SIGHUP || !hangs_on) std::signal(one, SIG_DFL);
}

}  // namespace sandgate::cli
