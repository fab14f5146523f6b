#include "local/image/build.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

TEST(Build, LeavesNothingWhenItIsStopped) {
  const TempDirectory directory;
  ImageStore store(directory.path());
  std::stop_source source;
  source.request_stop();
  const auto build = [&] {
    build_image(
        store, {}, [](std::string_view) {}, source.get_token());
  };
  EXPECT_EQ(code_of(build), ErrorCode::unavailable);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() + "/drafts"));
  EXPECT_TRUE(store.list().empty());
}

}  // namespace
}  // namespace sandgate::test
