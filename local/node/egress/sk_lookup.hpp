#pragma once
#include "gateway/core/fd.hpp"

namespace sandgate {

// Directs every TCP connection that arrives in the network namespace `netns` for an address other
// than loopback to `listener`, whatever its port, until the returned descriptor and all its copies
// are closed. Needs Linux 5.9 with BPF. Throws StepError.
Fd attach_sk_lookup(int listener, int netns);

}  // namespace sandgate
