#pragma once
#include <cstdint>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// A detached read-only tmpfs with null, zero, full, random, urandom, tty, the usual links and
// mount points for pts and shm. Device nodes need the host's root: made by the launcher.
Fd make_dev();

// Adds the sandbox's own terminals and shared memory to the /dev already in `root`; called in the
// sandbox's namespaces.
void mount_dev_parts(int root, uint64_t shm_bytes);

}  // namespace sandgate
