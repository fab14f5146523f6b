#include "gateway/core/files.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "tests/support/run.hpp"

namespace sandgate {
namespace {

class Files : public testing::Test {
 protected:
  size_t count() const {
    const std::filesystem::directory_iterator entries(directory.path());
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  test::TempDirectory directory;
  const std::string path = directory.path() + "/file";
};

TEST_F(Files, AreReplacedWhole) {
  EXPECT_EQ(read_text_file(path), std::nullopt);
  EXPECT_TRUE(replace_file(path, "first, which is longer", 0600, Durability::until_reboot));
  EXPECT_TRUE(replace_file(path, "second\n", 0600, Durability::through_power_cuts));
  EXPECT_EQ(read_text_file(path), "second\n");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(count(), 1u) << "no draft is left";
}

TEST_F(Files, WhatFailsLeavesTheOldOne) {
  std::filesystem::create_directories(path + "/child");
  EXPECT_FALSE(replace_file(path, "text", 0600, Durability::until_reboot))
      << "a directory with content";
  EXPECT_EQ(errno, EISDIR);
  EXPECT_TRUE(std::filesystem::is_directory(path + "/child"));
  EXPECT_EQ(count(), 1u);
  EXPECT_FALSE(
      replace_file(directory.path() + "/missing/file", "", 0600, Durability::until_reboot));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(sync_directory(directory.path() + "/missing"));
}

}  // namespace
}  // namespace sandgate
