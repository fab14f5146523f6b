#pragma once
#include <cstdint>

#include "gateway/core/fd.hpp"
#include "local/node/machine/probe.hpp"

namespace sandgate {

// Has the kernel refuse requests for modules that come from processes of the host's user ids from
// `first` to `last`, until the descriptor and all its copies are closed. Needs a kernel with BPF
// and type information, and root. Throws StepError.
Fd refuse_module_requests(uint32_t first, uint32_t last);

// As above, for a node; logs it when that cannot be, and returns no descriptor.
Fd try_refuse_module_requests(uint32_t first, uint32_t last);

ProbeResult probe_module_requests();

}  // namespace sandgate
