#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "local/namespaces/disk_speed.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

// A sysfs that knows the device of `path` as what `below` names.
std::string sys_with(const TempDirectory& directory, const std::string& below) {
  struct stat status {};
  stat(directory.path().c_str(), &status);
  const std::string sys = directory.path() + "/sys", devices = sys + "/devices/" + below;
  std::filesystem::create_directories(devices);
  std::filesystem::create_directories(sys + "/dev/block");
  std::filesystem::create_symlink(devices, sys + "/dev/block/" +
                                               std::to_string(major(status.st_dev)) + ":" +
                                               std::to_string(minor(status.st_dev)));
  return sys;
}

TEST(DiskUnder, IsTheWholeDiskOfAPartition) {
  const TempDirectory directory;
  const std::string sys = sys_with(directory, "sda/sda1");
  std::ofstream(sys + "/devices/sda/sda1/partition") << "1\n";
  std::ofstream(sys + "/devices/sda/dev") << "8:0\n";
  EXPECT_EQ(disk_under(directory.path() + "/not/yet/there", sys), "8:0");
}

TEST(DiskUnder, IsADiskWithoutPartitionsItselfAndNoneOfWhatHasNone) {
  const TempDirectory directory;
  struct stat status {};
  stat(directory.path().c_str(), &status);
  const std::string own =
      std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  EXPECT_EQ(disk_under(directory.path(), sys_with(directory, "dm-0")), own);
  EXPECT_EQ(disk_under(directory.path(), directory.path() + "/empty"), "");
}

TEST(IoMax, NamesWhatIsLimitedAndWhatIsNot) {
  EXPECT_EQ(io_max_of({.read_bytes = 1 << 20, .operations = 100, .device = "8:0"}),
            "8:0 rbps=1048576 wbps=max riops=100 wiops=100");
}

}  // namespace
}  // namespace sandgate::test
