#pragma once
#include <cstdint>

namespace sandgate {

// Sets the resource limits of all processes of a sandbox: no core dumps, files no larger than the
// disk, 1 024 descriptors (hard limit 65 536), 8 MiB of locked memory, no raised priorities. Throws
// StepError.
void apply_rlimits(uint64_t disk_bytes);

// Sets how many signals and POSIX timers may be queued: 512. All accounts of a user namespace that
// the caller makes afterwards share them, and so do all namespaces that its account made; on Linux
// before 5.14 each account has as many. Throws StepError.
void limit_queued_signals();

// For a sandbox that shares its account with others, called inside, with its namespace's privileges
// and while the machine's /proc is still there. Limits it to 512 queued signals, and to a quarter
// of what the kernel gives the account as a whole: inotify instances and watches, bytes of message
// queues. Where /proc/sys is read-only, inotify stays shared. Throws StepError.
void leave_others_their_share();

// Sees to it that neither this process nor those that come from it have, or can give themselves, a
// lower OOM score than an ordinary process: whoever is spared when memory is short is so at the
// cost of the machine. Their least score stays as it is if the caller has no privileges.
void give_up_being_spared();

}  // namespace sandgate
