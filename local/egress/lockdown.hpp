#pragma once
#include <sys/types.h>

namespace sandgate::egress {

// Gives up everything that carrying bytes does not need, for good: becomes `uid` without groups or
// capabilities, cannot gain any, cannot be traced, leaves no core, starts no program and makes no
// process, namespace, mount, packet or BPF program. Throws StepError.
void lock_down(uid_t uid);

}  // namespace sandgate::egress
