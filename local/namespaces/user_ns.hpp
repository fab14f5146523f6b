#pragma once
#include <sys/types.h>

#include <cstdint>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// Ids 0..65535 inside are host ids base..base+65535, a range no other live sandbox has.
inline constexpr uint32_t kIdRange = 65536;

// Writes the id maps of a process in a fresh user namespace; called from outside, as root.
// The namespace maps a whole range, so setgroups stays allowed: it can only name inner groups.
void write_id_maps(pid_t pid, uint32_t base);

// The same where the caller is an ordinary account: its ids (as seen from the namespace's parent)
// become 0, nothing else is mapped, and setgroups is denied for good, as the kernel demands.
void write_single_id_map(pid_t pid, uid_t uid, gid_t gid);

// The user namespace of a process, as id-mapped mounts ask for it.
Fd open_user_namespace(pid_t pid);

// A namespace without processes, for id-mapped mounts: of what write_id_maps maps it has this uid
// and this gid alone, and never 0. Files of all others outside are nobody's inside, and nothing
// made inside is another's.
Fd user_namespace_of_account(uint32_t base, uint32_t uid, uint32_t gid);

// Makes the calling process uid and gid 0 of its namespace, with no supplementary groups; with a
// single id those of the account outside stay, which only files outside could honour.
void become_inner_root(bool single_id);

}  // namespace sandgate
