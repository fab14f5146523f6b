#include "local/egress/byte_count.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "local/namespaces/step_error.hpp"
#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

TEST(ByteCount, OneThatFoundNoRoomLeavesNoneThatCannotBeRead) {
  const sandgate::test::TempDirectory home;
  const std::string path = home.path() + "/count";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto former = signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_THROW(open_byte_count(path), StepError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, former);
  EXPECT_EQ(read_byte_count(path), 0);
  ByteCount(open_byte_count(path)).add(7);
  EXPECT_EQ(read_byte_count(path), 7);
  open_byte_count(path);
  EXPECT_EQ(read_byte_count(path), 7) << "of one that is there, nothing is lost";
}

}  // namespace
}  // namespace sandgate::egress::test
