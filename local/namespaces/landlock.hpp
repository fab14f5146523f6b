#pragma once
#include <string>
#include <vector>

namespace sandgate {

// The kernel's Landlock ABI version; 0 without Landlock.
int landlock_abi();

// Restricts a sandbox, as defence in depth behind mounts and seccomp: this process and its children
// cannot make device nodes or change mounts, and (ABI 6) cannot reach abstract sockets of or signal
// processes outside. Does nothing where landlock_abi() is 0. Needs no_new_privs. Throws StepError.
void restrict_with_landlock();

// Restricts a process that only forwards bytes: it and its children may open files only for reading
// and only below `places` (missing ones are skipped), may not make, change or execute files, bind
// no TCP port (ABI 4), and reach no abstract sockets or processes outside (ABI 6). Does nothing
// where landlock_abi() is 0. Needs no_new_privs. Throws StepError.
void allow_reading_only(const std::vector<std::string>& places);

}  // namespace sandgate
