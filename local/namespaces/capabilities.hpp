#pragma once

namespace sandgate {

// Reduces the calling process, uid 0 of its own user namespace, to the capabilities that an agent
// needs to act for the sandbox's accounts: CHOWN DAC_OVERRIDE FOWNER FSETID SETUID SETGID KILL
// NET_BIND_SERVICE, and SETPCAP to drop its children's bounding set. The bounding set becomes the
// same; inheritable and ambient sets become empty. Reads the sets back and throws StepError when
// they differ.
void drop_capabilities();

// Joins a new session keyring, which gives no access to the machine's keys. Throws StepError.
void join_own_keyring();

void forbid_new_privileges();  // sets no_new_privs; throws StepError

// While a process is not dumpable, other processes inside cannot open its memory, descriptors or
// root through /proc. Throws StepError.
void set_dumpable(bool dumpable);

}  // namespace sandgate
