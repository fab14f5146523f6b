#include "local/namespaces/disk_mount.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr off_t kReadAhead = 1 << 20;  // a fresh disk holds 60 KiB

}  // namespace

LoopDevice attach_loop(int image_file) {
  Fd control = check_fd(open("/dev/loop-control", O_RDWR | O_CLOEXEC), "open loop-control");
  loop_config config{};
  config.fd = static_cast<uint32_t>(image_file);
  // Not direct I/O: most data of a short-lived sandbox is deleted before it would be written back.
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  // Another process may take the free device before it is configured here.
  for (int attempt = 0; attempt < 64; ++attempt) {
    int number = check(ioctl(control.get(), LOOP_CTL_GET_FREE), "free loop device");
    LoopDevice loop;
    std::snprintf(loop.name, sizeof loop.name, "/dev/loop%d", number);
    loop.device = check_fd(open(loop.name, O_RDWR | O_CLOEXEC), "open loop device");
    if (ioctl(loop.device.get(), LOOP_CONFIGURE, &config) == 0) return loop;
    if (errno != EBUSY) throw StepError("configure loop device", errno);
  }
  throw StepError("configure loop device", EBUSY);
}

void update_size(const LoopDevice& loop) {
  check(ioctl(loop.device.get(), LOOP_SET_CAPACITY), "size loop device");
}

Fd mount_disk(const LoopDevice& loop) {
  NewFilesystem ext4("ext4");
  ext4.set("source", loop.name);
  ext4.set_flag("noinit_itable");
  ext4.set_flag("nobarrier");  // a power cut ends the sandbox, and its disk is discarded
  return ext4.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

void read_ahead(const LoopDevice& loop, int image_file) {
  off_t at = 0;
  for (off_t left = kReadAhead; left > 0;) {
    const off_t data = lseek(image_file, at, SEEK_DATA);
    if (data < 0) return;
    at = lseek(image_file, data, SEEK_HOLE);
    if (at < 0) return;
    const off_t bytes = std::min(at - data, left);
    readahead(loop.device.get(), data, static_cast<size_t>(bytes));
    left -= bytes;
  }
}

Fd mount_memory_disk(uint64_t bytes, uint64_t inodes) {
  NewFilesystem tmpfs("tmpfs");
  tmpfs.set("size", std::to_string(bytes).c_str());
  tmpfs.set("nr_inodes", std::to_string(inodes).c_str());
  tmpfs.set("mode", "0755");
  Fd disk = tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  check(mkdirat(disk.get(), "upper", 0755), "make upper layer");
  check(mkdirat(disk.get(), "work", 0755), "make work directory");
  return disk;
}

}  // namespace sandgate
