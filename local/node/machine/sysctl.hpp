#pragma once
#include <string>

namespace sandgate {

// The file of a setting of the kernel: "vm.swappiness" is /proc/sys/vm/swappiness. `proc` is the
// mount point of procfs.
std::string sysctl_path(std::string name, const std::string& proc);

// Writes it in one call, as the kernel demands; false when it may not be written.
bool write_sysctl(const std::string& path, const std::string& value);

}  // namespace sandgate
