#include "local/node/ends.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

Ends::End counted(int64_t cpu_micros, bool died = false) {
  return {{.cpu_micros = cpu_micros, .egress_bytes = 7, .sampled_at = from_micros(1'000'000)},
          died};
}

TEST(Ends, AreKnownToTheNextNodeToo) {
  const TempDirectory home;
  Ends(home.path() + "/ends").remember("one", counted(12));
  const Ends later(home.path() + "/ends");
  const auto found = later.find("one");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->counted.cpu_micros, 12);
  EXPECT_EQ(found->counted.egress_bytes, 7);
  EXPECT_EQ(found->counted.sampled_at, from_micros(1'000'000));
  EXPECT_FALSE(found->died);
  EXPECT_FALSE(later.find("two"));
  Ends(home.path() + "/ends").remember("dead", counted(13, /*died=*/true));
  EXPECT_TRUE(Ends(home.path() + "/ends").find("dead")->died);
}

TEST(Ends, TellsOfTheLatestDeaths) {
  const TempDirectory home;
  Ends ends(home.path());
  ends.remember("killed", counted(1));
  ends.remember("dead", counted(1, /*died=*/true));
  EXPECT_EQ(ends.died_since(from_micros(1'000'000)), std::vector<std::string>{"dead"});
  EXPECT_TRUE(ends.died_since(from_micros(1'000'001)).empty());
  EXPECT_EQ(Ends(home.path()).died_since(Time()), std::vector<std::string>{"dead"});
  for (size_t i = 0; i < 2 * Ends::kDeaths; ++i)
    ends.remember(std::to_string(i), counted(1, /*died=*/true));
  EXPECT_EQ(ends.died_since(Time()).size(), Ends::kDeaths);
  EXPECT_EQ(Ends(home.path()).died_since(Time()).size(), Ends::kDeaths);
}

TEST(Ends, TheOldestGoWhenThereAreMany) {
  const TempDirectory home;
  Ends ends(home.path(), 2);
  for (const char* id : {"a", "b", "c", "d", "e"}) ends.remember(id, counted(1));
  const Ends later(home.path(), 2);
  EXPECT_FALSE(later.find("b"));
  EXPECT_TRUE(later.find("c"));
  EXPECT_TRUE(later.find("e"));
}

TEST(Ends, WithoutDescriptorsForAMomentTheyAreKeptAfterwards) {
  const TempDirectory home;
  Ends ends(home.path(), 1);
  ends.remember("one", counted(1));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(code_of([&] { ends.remember("two", counted(2)); }), ErrorCode::unavailable);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_NO_THROW(ends.remember("two", counted(2)));
  EXPECT_TRUE(Ends(home.path(), 1).find("one"));
  EXPECT_TRUE(Ends(home.path(), 1).find("two"));
}

// As of a node that was killed while it wrote.
TEST(Ends, AHalfLineHidesNoOther) {
  const TempDirectory home;
  Ends(home.path()).remember("one", counted(1));
  std::ofstream(home.path() + "/newer", std::ios::app) << R"({"id":"tw)";
  Ends(home.path()).remember("three", counted(3));
  const Ends later(home.path());
  EXPECT_TRUE(later.find("one"));
  EXPECT_FALSE(later.find("two"));
  EXPECT_TRUE(later.find("three"));
}

}  // namespace
}  // namespace sandgate::test
