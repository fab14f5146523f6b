#include "local/node/watch/epoll_items.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "gateway/core/fd.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

void write_total(const TempDirectory& caches, const std::string& name, const std::string& total) {
  std::filesystem::create_directories(caches.path() + "/" + name);
  std::ofstream(caches.path() + "/" + name + "/total_objects") << total;
}

TEST(EpollItems, AreNoMoreThanTheSmallerOfTwoCachesHolds) {
  const TempDirectory caches;
  EXPECT_EQ(epoll_items_of_machine(caches.path()), kUnknownItems);
  write_total(caches, "eventpoll_pwq", "70000 N0=40000 N1=30000\n");
  EXPECT_EQ(epoll_items_of_machine(caches.path()), 70'000);
  write_total(caches, "eventpoll_epi", "480 N0=480\n");
  EXPECT_EQ(epoll_items_of_machine(caches.path()), 480);
}

TEST(EpollItems, AreNoMoreThanTheirMemoryHolds) {
  EXPECT_EQ(epoll_items_within(0), kUnknownItems);
  EXPECT_EQ(epoll_items_within(19'200'000), 100'000);
}

// Where the kernel keeps the counts, they are not below the truth.
TEST(EpollItems, OfThisMachineAreSeen) {
  constexpr int kWatched = 200, kInstances = 200;
  std::vector<Fd> watched, instances;
  for (int i = 0; i < kWatched; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    watched.emplace_back(ends[0]);
    close(ends[1]);
  }
  for (int i = 0; i < kInstances; ++i) {
    instances.emplace_back(epoll_create1(EPOLL_CLOEXEC));
    for (const Fd& file : watched) {
      epoll_event event{};
      ASSERT_EQ(epoll_ctl(instances.back().get(), EPOLL_CTL_ADD, file.get(), &event), 0);
    }
  }
  EXPECT_GE(epoll_items_of_machine(), kWatched * kInstances);
}

}  // namespace
}  // namespace sandgate::test
