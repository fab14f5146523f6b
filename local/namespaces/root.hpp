#pragma once
#include "local/fd.hpp"
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// The detached mounts from which a sandbox's root file system is assembled.
struct RootLayers {
  Fd image;  // read-only, id-mapped
  Fd disk;  // holds `upper` and `work`
  Fd dev;  // of make_dev()
  Fd workspace;  // empty: no /workspace
};

// The root of a sandbox being built in the caller's own mount namespace.
struct NewRoot {
  Fd root;  // overlay of image and disk
  Fd empty;  // an empty directory that masks others
};

// Makes all mounts private, then assembles the layers to one tree; consumes them. Symlinks of the
// image are not followed: a mount point that is one throws StepError. mountinfo shows no host
// paths.
NewRoot assemble_root(const LaunchSpec& spec, RootLayers layers);

// Makes `root` the root directory and detaches all mounts of the host. Throws StepError.
void enter_root(const LaunchSpec& spec, const NewRoot& root);

}  // namespace sandgate
