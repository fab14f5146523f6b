#include "local/namespaces/disk_copy.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr off_t kPiece = 16 << 20;

void copy_extent(int from, int to, off_t at, off_t end, const std::function<void()>& between) {
  off_t in = at, out = at;
  while (in < end) {
    between();
    const auto piece = static_cast<size_t>(std::min(end - in, kPiece));
    const ssize_t copied = copy_file_range(from, &in, to, &out, piece, 0);
    if (copied <= 0) throw StepError("copy disk", copied < 0 ? errno : EIO);
  }
}

}  // namespace

void copy_disk(int from, int to, off_t size, const std::function<void()>& between) {
  if (ioctl(to, FICLONE, from) == 0) return;
  check(ftruncate(to, size), "size disk image");
  for (off_t at = 0; at < size;) {
    const off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // holes to the end
    check(data, "read disk image");
    const off_t hole = check(lseek(from, data, SEEK_HOLE), "read disk image");
    copy_extent(from, to, data, hole, between);
    at = hole;
  }
}

}  // namespace sandgate
