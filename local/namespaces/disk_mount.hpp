#pragma once
#include <cstdint>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// Attaches a disk image file to a free loop device that vanishes with its last user. The returned
// descriptor keeps it alive; `name` is its /dev path. The kernel first writes to the machine's disk
// what the file holds in memory: better attached while it is empty.
struct LoopDevice {
  Fd device;
  char name[32];
};
LoopDevice attach_loop(int image_file);

// Gives the device the size that its file has by now. Nothing was read beyond the former one.
void follow_size(const LoopDevice& loop);

// The ext4 file system of an attached disk as a detached mount: nosuid, nodev.
Fd mount_disk(const LoopDevice& loop);

// A detached tmpfs limited in bytes and inodes, for machines without loop devices. It belongs to
// the user namespace of the caller.
Fd mount_memory_disk(uint64_t bytes, uint64_t inodes);

}  // namespace sandgate
