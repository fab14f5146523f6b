#pragma once
#include <sys/types.h>

namespace sandgate::agent {

// SIGKILL to every process of this session, whatever its group; needs a mounted /proc.
void kill_session(pid_t session);

}  // namespace sandgate::agent
