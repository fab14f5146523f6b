#include "local/node/machine/mount_probe.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

TEST(MountProbe, KnowsWhereFilesCanHaveOtherIds) {
  const TempDirectory directory;
  EXPECT_EQ(id_mapping_lacks(directory.path()), "");
  EXPECT_EQ(id_mapping_lacks(directory.path() + "/not/yet"), "");
  EXPECT_EQ(id_mapping_lacks("/proc"), "id-mapped mount: Invalid argument");
}

TEST(MountProbe, KnowsWhatTheKernelMounts) {
  EXPECT_TRUE(can_mount("overlay"));
  EXPECT_FALSE(can_mount("no-such-file-system"));
}

}  // namespace
}  // namespace sandgate::test
