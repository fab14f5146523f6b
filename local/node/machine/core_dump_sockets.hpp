#pragma once
#include <cstdint>

#include "gateway/core/fd.hpp"
#include "local/node/machine/probe.hpp"

namespace sandgate {

// Since Linux 6.16 the machine's kernel.core_pattern may name a socket that crashes are sent to
// ("@/path"), which no limit of the program prevents. Has the kernel send none of processes of the
// host's user ids from `first` to `last`, until the descriptor and all its copies are closed. Needs
// a kernel with BPF and type information, and root. Throws StepError.
Fd refuse_core_dump_sockets(uint32_t first, uint32_t last);

// As above, for a node; logs it when that cannot be, and returns no descriptor.
Fd try_refuse_core_dump_sockets(uint32_t first, uint32_t last);

ProbeResult probe_core_dump_sockets();

}  // namespace sandgate
