#pragma once
#include "gateway/core/fd.hpp"
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Makes a detached tmpfs with null, zero, full, random, urandom, tty, the usual links and mount
// points for pts and shm. Only the host's root may make device nodes (`made`, read-only). Others
// use `bound`: empty files, writable until mount_dev_parts() binds the host's nodes over them.
// Throws StepError, as mount_dev_parts() does.
enum class DevNodes { made, bound };
Fd make_dev(DevNodes nodes);

// Mounts the sandbox's own terminals (at most 64) and shared memory in the `dev` already on the
// stage. Call it in the sandbox's namespaces.
void mount_dev_parts(const LaunchSpec& spec, int stage);

}  // namespace sandgate
