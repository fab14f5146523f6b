#include "gateway/core/ids.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sandgate {
namespace {

TEST(Ids, HaveTheirKindAndTwentyFourCharacters) {
  const SandboxId id = SandboxId::make();
  EXPECT_EQ(id.value.size(), 26u);
  EXPECT_TRUE(id.value.starts_with("sb"));
  EXPECT_EQ(SandboxId::parse(id.value), id);
}

TEST(Ids, AreNotRepeated) {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(make_id("sb")).second);
}

TEST(Ids, RefuseEveryOtherForm) {
  const std::string good = make_id("sb");
  for (const std::string& bad :
       {std::string(), std::string("sb"), good + "a", good.substr(1), "tn" + good.substr(2),
        "sb" + std::string(24, '-'), "sb" + std::string(24, 'A'), "sb../" + good.substr(5)})
    EXPECT_FALSE(SandboxId::parse(bad)) << bad;
}

}  // namespace
}  // namespace sandgate
