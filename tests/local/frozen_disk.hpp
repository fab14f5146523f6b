#pragma once
#include <string>

#include "gateway/core/fd.hpp"
#include "local/node/supervisor/journal.hpp"

namespace sandgate::test {

// Freezes a file system (FIFREEZE) during its lifetime. Processes that write there block, and
// cannot be killed meanwhile.
class FrozenDisk {
 public:
  explicit FrozenDisk(Fd directory);  // any directory of the file system
  ~FrozenDisk() { end(); }
  FrozenDisk(FrozenDisk&&) = default;
  void end();

 private:
  Fd directory_;
};

// Opens a directory on the file system of a sandbox's disk, found through the node's descriptors.
// Throws when the node does not have it open.
Fd disk_of(pid_t node, const std::string& id);

// Whether a process of the sandbox waits for a disk.
bool has_waiting_process(const JournalRecord& record);

// Mounts a new, empty file system at a directory during its lifetime.
class SmallDisk {
 public:
  SmallDisk(std::string directory, int mib);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;

  FrozenDisk freeze() const;
  // Allocates free space until only `left_mib` MiB are left; give_back() frees it.
  void fill(int left_mib) const;
  void give_back() const;

 private:
  const std::string directory_, image_;
};

}  // namespace sandgate::test
