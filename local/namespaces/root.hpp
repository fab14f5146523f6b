#pragma once
#include "local/namespaces/fd.hpp"
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// What the root file system of a sandbox is made of: detached mounts that a privileged helper
// prepared. All are consumed.
struct RootLayers {
  Fd image;  // read-only, id-mapped
  Fd disk;  // holds `upper` and `work`
  Fd dev;  // make_dev
  Fd workspace;  // none: no such directory
};

// The root of a sandbox being built in the calling process's own mount namespace.
struct NewRoot {
  Fd root;  // overlay of image and disk
  Fd empty;  // an empty read-only directory, to mask others with
};

// Cuts mount propagation, then joins the layers to one tree. Nothing of the image is followed:
// a mount point that is a symlink ends in StepError. Paths that mountinfo shows are neutral.
NewRoot assemble_root(const LaunchSpec& spec, RootLayers layers);

// Makes `root` the root directory and detaches every mount of the host.
void enter_root(const LaunchSpec& spec, const NewRoot& root);

}  // namespace sandgate
