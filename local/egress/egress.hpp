#pragma once

namespace sandgate::egress {

// Descriptors that the egress process starts with, besides the standard streams.
inline constexpr int kControlFd = 3, kListenerFd = 4, kSettingsFd = 5;

// Runs the egress process, which forwards connections of sandboxes to the outside. The node starts
// it, and it exits when the node does. kSettingsFd is a file with JSON: {uid, serve_uid,
// private_cidrs, authorities, log}, the last as log::settings() tells it. Does not return.
int run_egress();

}  // namespace sandgate::egress
