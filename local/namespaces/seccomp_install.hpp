#pragma once
#include "gateway/core/fd.hpp"

namespace sandgate {

// Installs the BPF program of a memfd (see compile_seccomp) on the calling process, irrevocably.
// Needs no_new_privs. Throws StepError.
void install_seccomp(int program);

// Installs a program that uses SECCOMP_RET_USER_NOTIF and returns the notification descriptor. The
// kernel allows one such descriptor per process; when an outer filter has it, the program is
// installed without, an empty Fd is returned, and its notifying calls fail with ENOSYS.
Fd install_notifying_seccomp(int program);

// Whether children of this process can install a program with a notification descriptor.
bool can_notify();

}  // namespace sandgate
