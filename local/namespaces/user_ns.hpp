#pragma once
#include <sys/types.h>

#include <cstdint>

#include "gateway/core/fd.hpp"

namespace sandgate {

// Number of ids of a sandbox: 0..65535 inside are host ids base..base+65535, a range that no other
// live sandbox has. The functions below throw StepError.
inline constexpr uint32_t kIdRange = 65536;

// The last id of a range, which no account uses.
inline constexpr uint32_t kIdOfNobody = kIdRange - 1;

// Writes the id maps of a process in a new user namespace; called from outside, as root. setgroups
// stays allowed, as it can only name groups of the mapped range.
void write_id_maps(pid_t pid, uint32_t base);

// As write_id_maps(), for an unprivileged caller: maps only its ids (as seen from the namespace's
// parent), to 0. setgroups is denied irrevocably, as the kernel requires.
void write_single_id_map(pid_t pid, uid_t uid, gid_t gid);

// Opens the user namespace of a process, for idmap_mount().
Fd open_user_namespace(pid_t pid);

// The host's group that an account's group is in a workspace: the one of that number, but never
// root's; for that, the one with the account's number.
uint32_t host_group(uint32_t uid, uint32_t gid);

// Returns a user namespace without processes, for id-mapped mounts. It maps only this uid, as
// write_id_maps() does, and this gid, to host_group(); never an id 0 of the host. Through such a
// mount, host files of other accounts have no owner inside, and files made inside get no other
// owner.
Fd user_namespace_of_account(uint32_t base, uint32_t uid, uint32_t gid);

// Makes the caller uid and gid 0 of its user namespace, with the supplementary group `observers`
// unless that is 0. With `single_id` the groups of the host account stay; only files of the host
// could honour them.
void become_inner_root(bool single_id, uint32_t observers);

}  // namespace sandgate
