#pragma once

namespace sandgate {

// Leaves the calling process, uid 0 of its own user namespace, with what an agent needs to act
// for the sandbox's accounts: CHOWN DAC_OVERRIDE FOWNER FSETID SETUID SETGID KILL
// NET_BIND_SERVICE, and SETPCAP so that it can empty the bounding set of what it starts.
// The bounding set becomes the same; inheritable and ambient become empty. Reads the result back
// and throws StepError when it differs.
void drop_capabilities();

// no_new_privs, not dumpable (nobody may ptrace it or open its /proc files), a fresh session
// keyring.
void lock_privileges();

}  // namespace sandgate
