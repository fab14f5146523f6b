#pragma once

namespace sandgate {

// Disables core files for this process and its later children, permanently.
void disable_core_dumps();

// Prevents other processes of the same account from reading this process's memory or attaching a
// debugger. Ends with exec. Not usable in a process that writes its children's id maps as an
// ordinary account.
void make_undumpable();

// Prevents programs started by this process from gaining privileges through set-uid or set-gid
// files or file capabilities.
void set_no_new_privileges();

}  // namespace sandgate
