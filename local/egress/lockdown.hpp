#pragma once
#include <sys/types.h>

namespace sandgate::egress {

// Drops irrevocably all privileges that forwarding bytes does not need: the process becomes `uid`
// without groups or capabilities, cannot gain any or be traced, dumps no core, and may make only
// the system calls of kAllowedCalls, so it starts no programs or processes and uses no namespaces,
// mounts, raw packets or BPF. With Landlock it may open only the directories that name resolution
// and certificate trust need, for reading. Applies to the calling thread and threads it starts
// later. From then on the kernel kills the process when the thread that started it ends. Throws
// StepError.
void lock_down(uid_t uid);

}  // namespace sandgate::egress
