#pragma once
#include <cstdint>

#include "gateway/core/fd.hpp"

// The functions throw StepError.
namespace sandgate {

// A loop device that is detached when its last user closes it; `device` keeps it attached, `name`
// is its /dev path. attach_loop() attaches an image file to a free device. The kernel first flushes
// the file's dirty pages to disk, so attaching is fast while the file is empty.
struct LoopDevice {
  Fd device;
  char name[32];
};
LoopDevice attach_loop(int image_file);

// Updates the device to its file's current size. Nothing may have been read beyond the old size.
void update_size(const LoopDevice& loop);

// Mounts the ext4 file system of an attached disk, detached: nosuid, nodev.
Fd mount_disk(const LoopDevice& loop);

// Starts to read the blocks that hold data in a mounted disk whose image was made from a template,
// and returns. Whoever mounts an overlay on the disk would wait for each of them in turn.
void read_ahead(const LoopDevice& loop, int image_file);

// Makes a detached tmpfs limited in bytes and inodes, for machines without loop devices. It belongs
// to the caller's user namespace.
Fd mount_memory_disk(uint64_t bytes, uint64_t inodes);

}  // namespace sandgate
