#include "local/namespaces/disk_speed.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

namespace sandgate {

std::string disk_under(const std::string& path, const std::string& sys) {
  std::filesystem::path nearest = std::filesystem::absolute(path);
  struct stat status {};
  while (stat(nearest.c_str(), &status) != 0 && nearest.has_relative_path())
    nearest = nearest.parent_path();
  const std::string number =
      std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  std::error_code none;
  const std::filesystem::path device =
      std::filesystem::canonical(sys + "/dev/block/" + number, none);
  if (none) return "";
  // Control groups limit whole disks only; in sysfs a partition is below its disk.
  if (!std::filesystem::exists(device / "partition")) return number;
  std::ifstream in(device.parent_path() / "dev");
  std::string whole;
  in >> whole;
  return whole;
}

std::string io_max_of(const DiskSpeed& speed) {
  const auto value = [](int64_t limit) { return limit > 0 ? std::to_string(limit) : "max"; };
  return speed.device + " rbps=" + value(speed.read_bytes) + " wbps=" + value(speed.write_bytes) +
         " riops=" + value(speed.operations) + " wiops=" + value(speed.operations);
}

}  // namespace sandgate
