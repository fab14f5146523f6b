#pragma once
#include "local/namespaces/fd.hpp"

namespace sandgate {

// The system calls a sandbox may make, as two BPF programs the kernel runs one after the other
// (the stricter answer counts): `calls` is an allowlist by number with EPERM for the rest (and the
// agent is asked for what its Gate counts: install_asking_seccomp), `arguments` forbids single uses
// of allowed calls. Only the native architecture gets through; calls that programs probe and do
// without answer ENOSYS.
struct SeccompPrograms {
  Fd calls;  // sealed memfds of struct sock_filter
  Fd calls_with_debug;  // the same plus ptrace and process_vm_*
  Fd arguments;
};

// Throws StepError when libseccomp refuses.
SeccompPrograms compile_seccomp();

}  // namespace sandgate
