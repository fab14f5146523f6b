#pragma once

namespace sandgate {

// Descriptor numbers by which the launcher (start_jailed.cpp) passes mounts to its child
// (enter_jail.cpp). Both share one descriptor table until the child has everything it needs.
enum JailFd : int { kGoFd = 40, kLauncherFd, kImageMount, kDevMount, kWorkspaceMount };

}  // namespace sandgate
