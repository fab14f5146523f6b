#pragma once
#include <cstdint>
#include <string>

namespace sandgate {

// Limits of each sandbox's use of the disk that holds all sandboxes. Per second; 0: no limit.
struct DiskSpeed {
  int64_t read_bytes = 0, write_bytes = 0;
  int64_t operations = 0;  // reads, and as many writes
  std::string device;  // "major:minor" of that disk, as control groups name it; empty: unknown

  bool limits() const { return read_bytes > 0 || write_bytes > 0 || operations > 0; }
};

// Returns "major:minor" of the whole disk that holds `path`, or its nearest existing ancestor;
// empty for file systems without a block device (tmpfs, overlayfs, btrfs). `sys` is the mount point
// of sysfs.
std::string disk_under(const std::string& path, const std::string& sys = "/sys");

// The limits as a line of io.max (version 2).
std::string io_max_of(const DiskSpeed& speed);

}  // namespace sandgate
