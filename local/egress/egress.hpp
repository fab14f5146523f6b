#pragma once

namespace sandgate::egress {

// Descriptors that the process starts with besides the standard streams.
inline constexpr int kControlFd = 3, kListenerFd = 4, kSettingsFd = 5;

// The process that carries bytes between sandboxes and the world; started by the node, it ends
// with it. The settings are JSON in a file: {uid, serve_uid, private_cidrs, authorities}.
int run_egress();

}  // namespace sandgate::egress
