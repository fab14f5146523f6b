#include "gateway/app/open_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sandgate {
namespace {

TEST(OpenFiles, LeaveRoomForAllThatIsNoConnection) {
  struct Case {
    uint64_t files;
    int64_t wanted, listeners, connections;
  };
  for (const Case& one :
       {Case{1 << 20, 4096, 1, 4096}, Case{1 << 20, 4096, 2, 4096}, Case{6144, 4096, 1, 4096},
        Case{4096, 4096, 1, 3072}, Case{4096, 4096, 2, 1536}, Case{4096, 100, 1, 100},
        Case{1024, 4096, 1, 512}, Case{64, 4096, 1, 32}, Case{1, 4096, 1, 1},
        Case{RLIM_INFINITY, 1'000'000, 1, 1'000'000}})
    EXPECT_EQ(connections_within(one.files, one.wanted, one.listeners), one.connections)
        << one.files << " files, " << one.wanted << " wanted";
}

TEST(OpenFiles, TheProcesssOwnLimitCounts) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{1024, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  Config config;
  fit_connections(config);
  EXPECT_EQ(config.limits.connections, 512);
  config.e2b.listen_address = "127.0.0.1";
  fit_connections(config);
  EXPECT_EQ(config.limits.connections, 256);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace sandgate
