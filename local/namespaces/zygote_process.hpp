#pragma once

namespace sandgate {

// The zygote's control socket; each packet on it requests a launcher.
constexpr int kZygoteControlFd = 3;
// argv[0] of the zygote; a copy overwrites it with kLauncherName.
constexpr const char* kZygoteName = "sandgate-zygote";
constexpr const char* kLauncherName = "sandgate-agent";

// Forks this process for each packet, as a child of its parent; the copy runs `launch` and exits
// with its result. The copy starts in the zygote's process group, by which the parent can reap it:
// `launch` must first report its pid and then start a session of its own. `name` is argv[0].
// Returns the exit code once the control socket is closed.
using LaunchFunction = int (*)(bool has_network);  // whether kNetworkFd is open
int run_zygote(char* name, LaunchFunction launch);

}  // namespace sandgate
