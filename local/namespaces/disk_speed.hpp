#pragma once
#include <cstdint>
#include <string>

namespace sandgate {

// How fast one sandbox may use the disk that all of them lie on. Per second; 0: as fast as it is.
struct DiskSpeed {
  int64_t read_bytes = 0, write_bytes = 0;
  int64_t operations = 0;  // of reading, and as many of writing
  std::string device;  // "major:minor" of that disk, as control groups name it; empty: none

  bool limits() const { return read_bytes > 0 || write_bytes > 0 || operations > 0; }
};

// The whole disk below the nearest directory that exists of `path`; empty where that lies on none
// of its own (tmpfs, overlayfs, btrfs). `sys` is where sysfs is mounted.
std::string disk_under(const std::string& path, const std::string& sys = "/sys");

// A line of version 2's io.max.
std::string io_max_of(const DiskSpeed& speed);

}  // namespace sandgate
