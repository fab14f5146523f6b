#include "local/node/seccomp_log.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

struct LogSetting {
  explicit LogSetting(const std::string& value) : path(directory.path() + "/setting") {
    std::ofstream(path) << value << "\n";
  }
  std::string now() const { return read_text_file(path).value_or(""); }

  TempDirectory directory;
  const std::string path;
};

TEST(SeccompLog, KeepsTheEndsOfPrograms) {
  const LogSetting setting("kill_process kill_thread trap errno user_notif trace log");
  const SeccompLog log(setting.path);
  EXPECT_NE(log.probe().detail.find("until a node begins"), std::string::npos);
  EXPECT_EQ(log.reduce(), SeccompLog::Outcome::reduced);
  EXPECT_EQ(setting.now(), "kill_process kill_thread\n");
  EXPECT_EQ(log.reduce(), SeccompLog::Outcome::no_need);
  EXPECT_EQ(log.probe().detail, "only of programs' ends");
}

TEST(SeccompLog, StaysAsTheOperatorReducedIt) {
  for (const char* value : {"kill_thread", ""}) {
    const LogSetting setting(value);
    EXPECT_EQ(SeccompLog(setting.path).reduce(), SeccompLog::Outcome::no_need);
    EXPECT_EQ(setting.now(), value + std::string("\n"));
  }
}

// Words that not even root may change.
TEST(SeccompLog, ThatMayNotBeReducedIsToldOf) {
  const SeccompLog fixed("/proc/sys/kernel/seccomp/actions_avail");
  EXPECT_EQ(fixed.reduce(), SeccompLog::Outcome::refused);
  EXPECT_FALSE(fixed.probe().ok);
  EXPECT_EQ(fixed.probe().fix,
            "sysctl -w kernel.seccomp.actions_logged=\"kill_process kill_thread\"");
}

TEST(SeccompLog, ThatIsMissingNeedsNothing) {
  const SeccompLog none("/nonexistent");
  EXPECT_EQ(none.reduce(), SeccompLog::Outcome::no_need);
  EXPECT_TRUE(none.probe().ok);
}

}  // namespace
}  // namespace sandgate::test
