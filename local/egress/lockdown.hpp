#pragma once
#include <sys/types.h>

namespace sandgate::egress {

// Gives up everything that carrying bytes does not need, for good: becomes `uid` without groups or
// capabilities, cannot gain any, cannot be traced, leaves no core, and makes only the system calls
// of a list, so no program, process, namespace, mount, packet or BPF program. Where the kernel has
// Landlock it opens only the files that name resolution and trust need, for reading. Holds for
// threads made later. Throws StepError.
void lock_down(uid_t uid);

}  // namespace sandgate::egress
