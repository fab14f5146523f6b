#pragma once
#include <string>
#include <vector>

namespace sandgate {

// The Landlock version of this kernel; 0 when it has none.
int landlock_abi();

// A second net under the mounts and the seccomp filter: below this process nobody makes device
// nodes or changes mounts, and (ABI 6) abstract sockets and signals end at the sandbox.
// Does nothing where landlock_abi() is 0. Needs no_new_privs.
void restrict_with_landlock();

// For a process that carries bytes: below it files are opened only for reading, and only beneath
// `places` (those that exist); none is made, changed or executed. (ABI 4) No TCP port is bound;
// (ABI 6) abstract sockets and signals end at it. Does nothing where landlock_abi() is 0. Needs
// no_new_privs. Throws StepError.
void allow_reading_only(const std::vector<std::string>& places);

}  // namespace sandgate
