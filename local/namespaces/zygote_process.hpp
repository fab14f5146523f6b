#pragma once

namespace sandgate {

// What a zygote starts with: the socket on which it is asked, one packet for each launcher.
constexpr int kZygoteControlFd = 3;
// Its first argument; a copy's is kLauncherName, which is written over it.
constexpr const char* kZygoteName = "sandgate-zygote";
constexpr const char* kLauncherName = "sandgate-agent";

// Begins a copy of this process for each packet, a child of our own parent, which exits with what
// `launch` returns. It stays in our process group, by which that parent finds it, until it has told
// its pid: `launch` has to do that first and then to leave for a session of its own. Returns the
// exit code once nobody can ask any more.
int run_zygote(char* name, int (*launch)());

}  // namespace sandgate
