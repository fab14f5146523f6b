#pragma once
#include <sys/types.h>

namespace sandgate::agent {

// Sends SIGKILL to every process of this session, whatever its group. Needs a mounted /proc.
void kill_session(pid_t session);

}  // namespace sandgate::agent
