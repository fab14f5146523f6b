#pragma once
#include "local/namespaces/fd.hpp"
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// A detached read-only tmpfs with null, zero, full, random, urandom, tty, the usual links and
// mount points for pts and shm. Only the host's root may make device nodes; for anybody else files
// stand in their places, writable until mount_dev_parts binds the host's nodes over them.
enum class DevNodes { made, bound };
Fd make_dev(DevNodes nodes);

// Adds the sandbox's own terminals (256 at most) and shared memory to the /dev already in `root`;
// called in the sandbox's namespaces.
void mount_dev_parts(const LaunchSpec& spec, int root);

}  // namespace sandgate
