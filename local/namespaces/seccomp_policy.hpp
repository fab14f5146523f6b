#pragma once
#include "gateway/core/fd.hpp"

namespace sandgate {

// The seccomp policy of sandboxes, as two BPF programs that the kernel both runs; the stricter
// result applies. `calls` is an allowlist by number: other calls fail with EPERM, optional calls
// that programs probe with ENOSYS, and calls that the agent's SyscallLimiter limits notify the
// agent (see install_notifying_seccomp). `arguments` forbids some uses of allowed calls. Both
// reject other architectures with ENOSYS.
struct SeccompPrograms {
  Fd calls;  // sealed memfds of struct sock_filter
  Fd calls_with_debug;  // as `calls`, plus ptrace and process_vm_*
  Fd arguments;
};

// Throws StepError when libseccomp refuses.
SeccompPrograms compile_seccomp();

}  // namespace sandgate
