#pragma once
#include <sys/types.h>

#include "gateway/core/json_reader.hpp"
#include "local/namespaces/fd.hpp"

namespace sandgate {

// A running egress process and the socket to it.
struct EgressProcess {
  pid_t pid = 0;
  Fd control;
};

// Starts this very program again as `egress`, with one end of a control socket, the listener that
// serve talks to, and the settings; nothing else of ours is open in it. Throws StepError.
EgressProcess start_egress(int listener, const Json& settings);

}  // namespace sandgate
