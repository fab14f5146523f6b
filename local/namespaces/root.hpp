#pragma once
#include "gateway/core/fd.hpp"
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// The root of a sandbox is put together on a stage: a tmpfs in the caller's own mount namespace,
// out of sight and detached with the host's mounts. All functions throw StepError.

// Makes all mounts private, and the stage.
Fd make_stage(const LaunchSpec& spec);

// Attaches a detached mount to the new directory `name` of the stage. Those that make a root:
// `image` (read-only, id-mapped), `dev` (of make_dev()), `proc`, `disk` (holds `upper` and `work`)
// and maybe `workspace`.
void place_on_stage(int stage, const char* name, const Fd& mount);

// Lays the disk over the image and moves the other mounts into that. Symlinks of the image are not
// followed: a mount point that is one throws StepError. mountinfo shows no host paths.
Fd assemble_root(const LaunchSpec& spec, int stage);

// Makes `root` the root directory and detaches all mounts of the host.
void enter_root(const LaunchSpec& spec, const Fd& root);

}  // namespace sandgate
