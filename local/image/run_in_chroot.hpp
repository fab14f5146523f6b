#pragma once
#include <functional>
#include <string>

namespace sandgate {

// Runs `work` in a forked child process whose root directory is `tree`, so that names and symlinks
// of an untrusted tree cannot lead out of it. The child keeps only capabilities for owning files,
// so it cannot make devices, and may use 1 GiB of memory. Its umask is 022. Of open descriptors it
// keeps the standard ones and `input`, unless that is -1. Returns the result of `work`, at most
// 64 KiB. The child dies with the thread that calls this. Throws Error: invalid with the message
// that `work` threw, unavailable when the child died.
std::string run_in_chroot(const std::string& tree, const std::function<std::string()>& work,
                          int input = -1);

}  // namespace sandgate
