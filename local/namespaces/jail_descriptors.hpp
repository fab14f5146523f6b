#pragma once

namespace sandgate {

// The launcher (start_jailed.cpp) and its child (enter_jail.cpp) share one descriptor table until
// the child has what it needs; these are the places where the child finds it.
enum JailFd : int { kGoFd = 40, kLauncherFd, kImageMount, kDiskMount, kDevMount, kWorkspaceMount };

}  // namespace sandgate
