#pragma once

namespace sandgate {

// Disables core files for this process and its later children, permanently.
void forbid_core_dumps();

// Prevents other processes of the same account from reading this process's memory or attaching a
// debugger. Ends with exec. Not usable in a process that writes its children's id maps as an
// ordinary account.
void hide_memory();

// Prevents programs started by this process from gaining privileges through set-uid or set-gid
// files or file capabilities.
void gain_no_privileges();

}  // namespace sandgate
