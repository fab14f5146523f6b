#pragma once
#include "local/namespaces/fd.hpp"

namespace sandgate {

// From now on every TCP connection in the network namespace `netns` to an address that is not
// loopback arrives at `listener`, whatever its port, until the returned descriptor is closed (and
// every copy of it). Throws StepError: needs Linux 5.9 with BPF.
Fd steer_to(int listener, int netns);

}  // namespace sandgate
