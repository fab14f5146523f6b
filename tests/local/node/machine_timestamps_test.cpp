#include "local/node/machine_timestamps.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

using Outcome = MachineTimestamps::Outcome;

struct TimestampSetting {
  explicit TimestampSetting(const std::string& value) : path(directory.path() + "/setting") {
    std::ofstream(path) << value << "\n";
  }
  std::string now() const { return read_text_file(path).value_or(""); }

  TempDirectory directory;
  const std::string path;
};

TEST(MachineTimestamps, AreTurnedOffWhereSandboxesShareThem) {
  const TimestampSetting setting("1");
  const MachineTimestamps shared(/*each_has_own=*/false, setting.path);
  EXPECT_NE(shared.probe().detail.find("until a node begins"), std::string::npos);
  EXPECT_EQ(shared.turn_off(), Outcome::turned_off);
  EXPECT_EQ(setting.now(), "0\n");
  EXPECT_EQ(shared.turn_off(), Outcome::no_need);
  EXPECT_TRUE(shared.probe().ok);
}

TEST(MachineTimestamps, StayWhereEachSandboxHasItsOwn) {
  const TimestampSetting setting("1");
  const MachineTimestamps own(/*each_has_own=*/true, setting.path);
  EXPECT_EQ(own.turn_off(), Outcome::no_need);
  EXPECT_EQ(setting.now(), "1\n");
  EXPECT_TRUE(own.probe().ok);
}

// A number that not even root may change.
TEST(MachineTimestamps, ThatMayNotBeTurnedOffAreToldOf) {
  const MachineTimestamps fixed(/*each_has_own=*/false, "/proc/sys/kernel/ngroups_max");
  EXPECT_EQ(fixed.turn_off(), Outcome::refused);
  EXPECT_FALSE(fixed.probe().ok);
  EXPECT_EQ(fixed.probe().fix, "sysctl -w net.core.tstamp_allow_data=0");
}

TEST(MachineTimestamps, ThatThisNamespaceDoesNotShowAreNotKnown) {
  const MachineTimestamps hidden(/*each_has_own=*/false, "/nonexistent");
  EXPECT_EQ(hidden.turn_off(), Outcome::no_need);
  EXPECT_EQ(hidden.probe().detail, "not known");
}

}  // namespace
}  // namespace sandgate::test
