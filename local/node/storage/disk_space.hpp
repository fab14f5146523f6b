#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sandgate {

// Free space of the file system that holds the sandboxes' disks. Disk images are sparse and
// overcommitted, and data that a sandbox has written occupies space only once the kernel writes it
// back. So a floor of free space is kept. Copyable and thread-safe; no call blocks.
class DiskSpace {
 public:
  struct Status {
    int64_t free_bytes = 0, floor_bytes = 0;
  };
  // `directory` need not exist yet; when it is empty, nothing is known. `floor_mib` as
  // NodeSettings::disk_floor_mib.
  DiskSpace(std::string directory, int64_t floor_mib);

  std::optional<Status> status() const;  // empty: unknown
  bool is_below_floor() const;  // nothing that needs space may start; false when unknown
  // Whether writeback of dirty pages could take free space below the floor: then data must be on
  // disk before it is acknowledged. False when unknown.
  bool is_scarce() const;

 private:
  std::string directory_;
  int64_t floor_mib_;
  int64_t unwritten_bytes_;  // the kernel's limit of dirty pages
};

}  // namespace sandgate
