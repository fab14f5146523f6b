#pragma once

namespace sandgate {

// Leaves the calling process, uid 0 of its own user namespace, with what an agent needs to act
// for the sandbox's accounts: CHOWN DAC_OVERRIDE FOWNER FSETID SETUID SETGID KILL
// NET_BIND_SERVICE, and SETPCAP so that it can empty the bounding set of what it starts.
// The bounding set becomes the same; inheritable and ambient become empty. Reads the result back
// and throws StepError when it differs.
void drop_capabilities();

// A fresh session keyring: none of the machine's keys are reached through it.
void join_own_keyring();

void forbid_new_privileges();

// Of a process that is not dumpable nobody inside may open memory, descriptors or root by /proc.
void set_dumpable(bool dumpable);

}  // namespace sandgate
