#include "local/node/storage/disk_space.hpp"

#include <sys/statvfs.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sandgate {
namespace {

constexpr int64_t kUsualFloor = int64_t{1} << 30;
constexpr int64_t kUsualPart = 20;  // the usual floor is at most 1/20 of the file system

int64_t kernel_setting(const char* path) {
  std::ifstream in(path);
  int64_t value = 0;
  in >> value;
  return value;
}

int64_t most_unwritten() {
  if (const int64_t bytes = kernel_setting("/proc/sys/vm/dirty_bytes"); bytes > 0) return bytes;
  struct sysinfo info {};
  sysinfo(&info);
  const auto memory = static_cast<int64_t>(info.totalram) * info.mem_unit;
  return memory / 100 * kernel_setting("/proc/sys/vm/dirty_ratio");
}

}  // namespace

DiskSpace::DiskSpace(std::string directory, int64_t floor_mib)
    : directory_(std::move(directory)), floor_mib_(floor_mib), unwritten_bytes_(most_unwritten()) {}

std::optional<DiskSpace::Status> DiskSpace::status() const {
  std::filesystem::path nearest = directory_;
  struct statvfs status {};
  while (statvfs(nearest.c_str(), &status) != 0) {
    if (errno != ENOENT || !nearest.has_relative_path()) return std::nullopt;
    nearest = nearest.parent_path();
  }
  const auto bytes = [&](fsblkcnt_t blocks) {
    return static_cast<int64_t>(blocks) * static_cast<int64_t>(status.f_frsize);
  };
  const int64_t usual = std::min(kUsualFloor, bytes(status.f_blocks) / kUsualPart);
  return Status{bytes(status.f_bavail), floor_mib_ > 0 ? floor_mib_ << 20 : usual};
}

bool DiskSpace::is_below_floor() const {
  const auto seen = status();
  return seen && seen->free_bytes < seen->floor_bytes;
}

bool DiskSpace::is_scarce() const {
  const auto seen = status();
  return seen && seen->free_bytes - unwritten_bytes_ < seen->floor_bytes;
}

}  // namespace sandgate
