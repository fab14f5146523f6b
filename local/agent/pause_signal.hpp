#pragma once
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

// How a node tells an agent how long its sandbox was frozen.
namespace sandgate::agent {

// A real-time signal; its value is the duration in microseconds. Agents block it, so the kernel
// keeps it: if it is sent before the thaw, an agent that goes on finds it.
constexpr int kPauseSignal = 40;

// To be called before the agent is thawed; `agent` is its pidfd. Does nothing if it has ended.
inline void send_pause(int agent, std::chrono::microseconds lasted) {
  siginfo_t info{};
  info.si_signo = kPauseSignal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = reinterpret_cast<void*>(lasted.count());
  ::syscall(SYS_pidfd_send_signal, agent, kPauseSignal, &info, 0);
}

}  // namespace sandgate::agent
