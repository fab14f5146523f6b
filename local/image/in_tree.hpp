#pragma once
#include <functional>
#include <string>

namespace sandgate {

// Runs `work` in a child process whose root directory is `tree`: names and links of an untrusted
// file tree cannot lead out. Of the capabilities it keeps what owning files takes, so it can make
// no device. Descriptors opened before stay open. Returns what `work` returned (64 KiB at most);
// throws Error(invalid) with what it threw, Error(unavailable) when it died.
std::string in_tree(const std::string& tree, const std::function<std::string()>& work);

}  // namespace sandgate
