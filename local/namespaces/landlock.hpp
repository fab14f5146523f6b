#pragma once

namespace sandgate {

// The Landlock version of this kernel; 0 when it has none.
int landlock_abi();

// A second net under the mounts and the seccomp filter: below this process nobody makes device
// nodes or changes mounts, and (ABI 6) abstract sockets and signals end at the sandbox.
// Does nothing where landlock_abi() is 0. Needs no_new_privs.
void restrict_with_landlock();

}  // namespace sandgate
