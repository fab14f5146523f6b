#pragma once

namespace sandgate {

// Installs the BPF program in a memfd (compile_seccomp) on the calling process, for good.
// Needs no_new_privs. Throws StepError.
void install_seccomp(int program);

}  // namespace sandgate
