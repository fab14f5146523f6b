#include "local/node/storage/image_garbage.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

TEST(ImageGarbage, NothingIsRemovedWhileASnapshotCannotBeRead) {
  const TempDirectory home;
  const NodeSettings settings{.data_dir = home.path() + "/data", .run_dir = home.path() + "/run"};
  ImageStore store(images_dir(settings));
  const std::string tree = images_dir(settings) + "/trees/0123";
  const std::string document = snapshots_dir(settings) + "/sn1.json";
  std::filesystem::create_directories(tree);
  std::filesystem::create_directories(snapshots_dir(settings));
  std::filesystem::create_symlink(document, document);
  EXPECT_TRUE(collect_images(settings, store).empty());
  EXPECT_TRUE(std::filesystem::exists(tree));
  std::filesystem::remove(document);
  EXPECT_EQ(collect_images(settings, store), std::vector<std::string>{"sha256:0123"});
  EXPECT_FALSE(std::filesystem::exists(tree));
}

}  // namespace
}  // namespace sandgate::test
