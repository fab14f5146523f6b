#include "local/node/machine/machine_share.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "gateway/core/error.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

struct MachineShareTest : testing::Test {
  NodeSettings settings(const std::string& home) const {
    NodeSettings settings;
    settings.name = "local";
    settings.run_dir = root / home / "run";
    settings.data_dir = root / home / "data";
    return settings;
  }
  MachineShare claim(const std::string& home) const {
    return claim_share(settings(home), claims());
  }
  void leave_a_sandbox(const std::string& home) const {
    fs::create_directories(fs::path(sandboxes_dir(settings(home))) / "sb1");
  }
  std::string claims() const { return root / "claims"; }

  TempDirectory directory;
  const fs::path root = directory.path();
};

TEST_F(MachineShareTest, TheFirstGetsWhatIsConfigured) {
  const MachineShare share = claim("a");
  EXPECT_EQ(share.name, "local");
  EXPECT_EQ(share.id_base, settings("a").id_base);
}

TEST_F(MachineShareTest, NoTwoHaveANameOrAnIdInCommon) {
  const MachineShare first = claim("a"), second = claim("b"), third = claim("c");
  EXPECT_EQ((std::set<std::string>{first.name, second.name, third.name}.size()), 3u);
  const uint32_t span = settings("a").id_ranges * 65536;
  EXPECT_GE(second.id_base, first.id_base + span);
  EXPECT_GE(third.id_base, second.id_base + span);
}

TEST_F(MachineShareTest, WhoComesBackGetsWhatItHad) {
  leave_a_sandbox("b");
  const MachineShare first = claim("a");
  const uint32_t second = claim("b").id_base;
  { const MachineShare third = claim("c"); }
  EXPECT_EQ(claim("b").id_base, second);
}

TEST_F(MachineShareTest, WhatSandboxesAreLeftInStaysClaimed) {
  const uint32_t first = claim("a").id_base;
  leave_a_sandbox("a");
  const MachineShare second = claim("b");
  EXPECT_NE(second.id_base, first);
  EXPECT_NE(second.name, "local");
}

TEST_F(MachineShareTest, WhatNobodyNeedsIsFreeAgain) {
  const uint32_t first = claim("a").id_base;
  const MachineShare second = claim("b");
  EXPECT_EQ(second.id_base, first);
  EXPECT_EQ(second.name, "local");
}

TEST_F(MachineShareTest, OtherSettingsMakeAnotherClaim) {
  leave_a_sandbox("a");
  { const MachineShare before = claim("a"); }
  NodeSettings changed = settings("a");
  changed.id_base = 700'000'000;
  EXPECT_EQ(claim_share(changed, claims()).id_base, 700'000'000u);
}

TEST_F(MachineShareTest, ClaimsOfFormerSettingsAreInNobodysOwnWay) {
  leave_a_sandbox("a");
  NodeSettings changed = settings("a");
  for (const uint32_t base : {700'000'000u, 1'100'000'000u, 1'500'000'000u, 1'900'000'000u}) {
    changed.id_base = base;
    for (int start = 0; start < 2; ++start) {
      const MachineShare share = claim_share(changed, claims());
      EXPECT_EQ(share.id_base, base);
      EXPECT_EQ(share.name, "local");
    }
  }
  NodeSettings neighbour = settings("b");
  neighbour.id_base = 700'000'000;
  EXPECT_GT(claim_share(neighbour, claims()).id_base, 700'000'000u) << "what runs there is kept";
}

TEST_F(MachineShareTest, SpansThatOnlyOverlapAreTakenToo) {
  const MachineShare first = claim("a");
  NodeSettings other = settings("b");
  other.id_base = first.id_base + 65536;
  EXPECT_GE(claim_share(other, claims()).id_base, first.id_base + other.id_ranges * 65536);
}

TEST_F(MachineShareTest, SpansOfDifferentLengthsDoNotOverlapEither) {
  const MachineShare large = claim("a");
  NodeSettings small = settings("b");
  small.id_ranges = 16;
  const MachineShare after = claim_share(small, claims());
  EXPECT_GE(after.id_base, large.id_base + settings("a").id_ranges * 65536);
  const MachineShare last = claim("c");
  const bool below = last.id_base + settings("c").id_ranges * 65536 <= after.id_base;
  EXPECT_TRUE(below || last.id_base >= after.id_base + 16 * 65536) << last.id_base;
}

TEST_F(MachineShareTest, ALongerSpanIsAnotherClaim) {
  leave_a_sandbox("a");
  { const MachineShare before = claim("a"); }
  const uint32_t next = settings("a").id_base + settings("a").id_ranges * 65536;
  NodeSettings neighbour = settings("b");
  neighbour.id_base = next;
  const MachineShare held = claim_share(neighbour, claims());
  NodeSettings longer = settings("a");
  longer.id_ranges *= 2;
  EXPECT_GE(claim_share(longer, claims()).id_base, next + settings("b").id_ranges * 65536);
}

TEST_F(MachineShareTest, ManyAtOnceAllDiffer) {
  std::vector<std::future<MachineShare>> asked;
  for (int i = 0; i < 8; ++i)
    asked.push_back(
        std::async(std::launch::async, [this, i] { return claim("h" + std::to_string(i)); }));
  std::vector<MachineShare> shares;
  for (auto& one : asked) shares.push_back(one.get());
  std::set<uint32_t> bases;
  for (const auto& share : shares) bases.insert(share.id_base);
  EXPECT_EQ(bases.size(), 8u);
}

TEST_F(MachineShareTest, AfterTheHighestIdsComeTheFirst) {
  NodeSettings high = settings("z"), late = settings("y");
  high.id_base = late.id_base = 4'000'000'000;
  const MachineShare first = claim_share(high, claims()), second = claim_share(late, claims());
  EXPECT_EQ(first.id_base, 4'000'000'000);
  EXPECT_EQ(second.id_base, settings("x").id_base);
}

TEST_F(MachineShareTest, AMachineIsFullAtSomeTime) {
  NodeSettings wide = settings("z"), late = settings("y");
  wide.id_ranges = late.id_ranges = 60'000;
  const MachineShare all = claim_share(wide, claims());
  EXPECT_THROW(claim_share(late, claims()), Error);
}

TEST_F(MachineShareTest, AHalfWrittenClaimIsNone) {
  fs::create_directories(claims());
  std::ofstream(claims() + "/200000000.json") << "{\"name\":\"lo";
  EXPECT_EQ(claim("a").id_base, settings("a").id_base);
}

}  // namespace
}  // namespace sandgate::test
