#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sandgate {

// How full the file system is that the disks of sandboxes lie on. Their images are sparse: together
// they promise more than there is, and what a sandbox was told is written takes its place only when
// the kernel writes it back. So a floor is kept. Copyable and thread-safe; a look does not block.
class DiskSpace {
 public:
  struct Look {
    int64_t free_bytes = 0, floor_bytes = 0;
  };
  // `directory` need not be there yet; empty: nothing can be known. `floor_mib` as NodeSettings has
  // it.
  DiskSpace(std::string directory, int64_t floor_mib);

  std::optional<Look> look() const;  // empty: cannot be known
  bool below_floor() const;  // nothing that needs space is begun
  // What waits in memory to be written could take it below the floor: what is acknowledged has to
  // have its place first.
  bool scarce() const;

 private:
  std::string directory_;
  int64_t floor_mib_;
  int64_t unwritten_bytes_;  // how much may wait in memory
};

}  // namespace sandgate
