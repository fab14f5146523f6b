#pragma once
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gateway/core/fd.hpp"

// Process descriptors. Not <sys/pidfd.h>: in glibc 2.36 it lacks extern "C".
namespace sandgate {

// A descriptor of the process that has this pid now; none when there is no such process.
inline Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

// SIGKILL. No effect on a process that has ended.
inline void kill_by_pidfd(const Fd& pidfd) {
  syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

}  // namespace sandgate
