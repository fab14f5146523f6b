#include "local/node/supervisor/final_usage_log.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

FinalUsageLog::Entry usage(int64_t cpu_micros, bool died = false) {
  return {{.cpu_micros = cpu_micros, .egress_bytes = 7, .sampled_at = from_micros(1'000'000)},
          died};
}

TEST(FinalUsageLog, AreKnownToTheNextNodeToo) {
  const TempDirectory home;
  FinalUsageLog(home.path() + "/ends").append("one", usage(12));
  const FinalUsageLog later(home.path() + "/ends");
  const auto found = later.find("one");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->usage.cpu_micros, 12);
  EXPECT_EQ(found->usage.egress_bytes, 7);
  EXPECT_EQ(found->usage.sampled_at, from_micros(1'000'000));
  EXPECT_FALSE(found->died);
  EXPECT_FALSE(later.find("two"));
  FinalUsageLog(home.path() + "/ends").append("dead", usage(13, /*died=*/true));
  EXPECT_TRUE(FinalUsageLog(home.path() + "/ends").find("dead")->died);
}

TEST(FinalUsageLog, TellsOfTheLatestDeaths) {
  const TempDirectory home;
  FinalUsageLog log(home.path());
  log.append("killed", usage(1));
  log.append("dead", usage(1, /*died=*/true));
  EXPECT_EQ(log.died_since(from_micros(1'000'000)), std::vector<std::string>{"dead"});
  EXPECT_TRUE(log.died_since(from_micros(1'000'001)).empty());
  EXPECT_EQ(FinalUsageLog(home.path()).died_since(Time()), std::vector<std::string>{"dead"});
  for (size_t i = 0; i < 2 * FinalUsageLog::kDeaths; ++i)
    log.append(std::to_string(i), usage(1, /*died=*/true));
  EXPECT_EQ(log.died_since(Time()).size(), FinalUsageLog::kDeaths);
  EXPECT_EQ(FinalUsageLog(home.path()).died_since(Time()).size(), FinalUsageLog::kDeaths);
}

TEST(FinalUsageLog, TheOldestGoWhenThereAreMany) {
  const TempDirectory home;
  FinalUsageLog log(home.path(), 2);
  for (const char* id : {"a", "b", "c", "d", "e"}) log.append(id, usage(1));
  const FinalUsageLog later(home.path(), 2);
  EXPECT_FALSE(later.find("b"));
  EXPECT_TRUE(later.find("c"));
  EXPECT_TRUE(later.find("e"));
}

TEST(FinalUsageLog, WithoutDescriptorsForAMomentTheyAreKeptAfterwards) {
  const TempDirectory home;
  FinalUsageLog log(home.path(), 1);
  log.append("one", usage(1));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  log.append("two", usage(2, /*died=*/true));
  log.write_owed();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(log.find("two"));
  EXPECT_EQ(log.died_since(Time()), std::vector<std::string>{"two"});
  EXPECT_FALSE(FinalUsageLog(home.path(), 1).find("two")) << "the control";
  log.write_owed();
  EXPECT_TRUE(FinalUsageLog(home.path(), 1).find("one"));
  EXPECT_TRUE(FinalUsageLog(home.path(), 1).find("two"));
}

// Beyond a limit the file takes part of a line, and then nothing.
TEST(FinalUsageLog, OnAFullDiskTheyAreKnownAndWrittenWhenThereIsRoom) {
  const TempDirectory home;
  FinalUsageLog log(home.path());
  log.append("one", usage(1));
  const auto size = std::filesystem::file_size(home.path() + "/newer");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = signal(SIGXFSZ, SIG_IGN);
  const rlimit little{size + 10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  log.append("two", usage(2));
  log.append("three", usage(3));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, ignored);
  EXPECT_EQ(std::filesystem::file_size(home.path() + "/newer"), size + 10) << "the control";
  EXPECT_EQ(log.find("two")->usage.cpu_micros, 2);
  log.append("four", usage(4));
  const FinalUsageLog later(home.path());
  for (const char* id : {"one", "two", "three", "four"}) EXPECT_TRUE(later.find(id)) << id;
}

TEST(FinalUsageLog, OwesNoMoreThanAFile) {
  const TempDirectory home;
  FinalUsageLog log(home.path() + "/gone", 2);
  std::filesystem::remove(home.path() + "/gone");
  for (const char* id : {"a", "b", "c", "d"}) log.append(id, usage(1));
  std::filesystem::create_directory(home.path() + "/gone");
  log.write_owed();
  const FinalUsageLog later(home.path() + "/gone", 2);
  EXPECT_FALSE(later.find("b"));
  EXPECT_TRUE(later.find("c"));
  EXPECT_TRUE(later.find("d"));
}

// As of a node that was killed while it wrote.
TEST(FinalUsageLog, AHalfLineHidesNoOther) {
  const TempDirectory home;
  FinalUsageLog(home.path()).append("one", usage(1));
  std::ofstream(home.path() + "/newer", std::ios::app) << R"({"id":"tw)";
  FinalUsageLog(home.path()).append("three", usage(3));
  const FinalUsageLog later(home.path());
  EXPECT_TRUE(later.find("one"));
  EXPECT_FALSE(later.find("two"));
  EXPECT_TRUE(later.find("three"));
}

}  // namespace
}  // namespace sandgate::test
