#include "local/node/oom_log.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

struct OomSetting {
  explicit OomSetting(const std::string& value) : path(directory.path() + "/setting") {
    std::ofstream(path) << value << "\n";
  }
  std::string now() const { return read_text_file(path).value_or(""); }

  TempDirectory directory;
  const std::string path;
};

TEST(OomLog, ListsNoProcesses) {
  const OomSetting setting("1");
  const OomLog log(setting.path);
  EXPECT_NE(log.probe().detail.find("until a node begins"), std::string::npos);
  EXPECT_EQ(log.reduce(), OomLog::Outcome::reduced);
  EXPECT_EQ(setting.now(), "0\n");
  EXPECT_EQ(log.reduce(), OomLog::Outcome::no_need);
  EXPECT_EQ(log.probe().detail, "without a list of processes");
}

// A number that not even root may change.
TEST(OomLog, ThatMayNotBeReducedIsToldOf) {
  const OomLog fixed("/proc/sys/kernel/cap_last_cap");
  EXPECT_EQ(fixed.reduce(), OomLog::Outcome::refused);
  EXPECT_FALSE(fixed.probe().ok);
  EXPECT_EQ(fixed.probe().fix, "sysctl -w vm.oom_dump_tasks=0");
}

TEST(OomLog, ThatIsMissingNeedsNothing) {
  const OomLog none("/nonexistent");
  EXPECT_EQ(none.reduce(), OomLog::Outcome::no_need);
  EXPECT_TRUE(none.probe().ok);
}

}  // namespace
}  // namespace sandgate::test
