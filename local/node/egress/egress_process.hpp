#pragma once
#include <sys/types.h>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// A running egress process and its control socket.
struct EgressProcess {
  pid_t pid = 0;
  Fd control;
};

// Starts this program again as `egress`, with one end of a control socket, the listener for serve
// and the settings; it inherits no other descriptors. It ends with the calling thread. Throws
// StepError.
EgressProcess start_egress(int listener, const Json& settings);

}  // namespace sandgate
