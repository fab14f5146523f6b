#pragma once
#include "local/namespaces/fd.hpp"

namespace sandgate {

// Installs the BPF program in a memfd (compile_seccomp) on the calling process, for good.
// Needs no_new_privs. Throws StepError.
void install_seccomp(int program);

// The same, for a program that has somebody asked about single calls; the descriptor on which they
// are. Empty where a filter from outside has taken that place: such calls are ENOSYS then.
Fd install_asking_seccomp(int program);

// Whether that place is free for what this process starts.
bool can_ask();

}  // namespace sandgate
