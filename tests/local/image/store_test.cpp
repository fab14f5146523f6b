#include "local/image/store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

TEST(ImageStoreTest, WithoutDescriptorsNothingIsTakenForMissing) {
  const TempDirectory directory;
  const ImageStore store(directory.path());
  const auto read = [&] { return code_of([&] { store.read("debian-12"); }); };
  EXPECT_EQ(read(), ErrorCode::not_found);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto code = read();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(code, ErrorCode::no_capacity);
}

}  // namespace
}  // namespace sandgate::test
