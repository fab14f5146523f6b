#include "local/node/machine/machine_settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "gateway/core/files.hpp"
#include "local/node/machine/sysctl.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

using Outcome = MachineSetting::Outcome;

struct SettingCase {
  std::string name, sysctl, harmful, changed, harmless;
  std::string unchangeable;  // a file with a harmful value that not even root may change
  std::string fix;

  friend void PrintTo(const SettingCase& one, std::ostream* out) { *out << one.name; }
};

const SettingCase kTimestamps{"transmit timestamps",
                              "net.core.tstamp_allow_data",
                              "1",
                              "0",
                              "off on the whole machine",
                              "/proc/sys/kernel/ngroups_max",
                              "sysctl -w net.core.tstamp_allow_data=0"};
const SettingCase kSystemCalls{
    "log of system calls",
    "kernel.seccomp.actions_logged",
    "kill_process kill_thread trap errno user_notif trace log",
    "kill_process kill_thread",
    "only of programs' ends",
    "/proc/sys/kernel/seccomp/actions_avail",
    "sysctl -w kernel.seccomp.actions_logged=\"kill_process kill_thread\""};
const SettingCase kMemoryShortage{"log of memory shortage",
                                  "vm.oom_dump_tasks",
                                  "1",
                                  "0",
                                  "without a list of processes",
                                  "/proc/sys/kernel/cap_last_cap",
                                  "sysctl -w vm.oom_dump_tasks=0"};

// A machine of whose settings only one is there.
class OneSetting {
 public:
  explicit OneSetting(const SettingCase& one)
      : name_(one.name), path_(sysctl_path(one.sysctl, proc())) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
  }
  OneSetting(const SettingCase& one, const std::string& value) : OneSetting(one) {
    std::ofstream(path_) << value << "\n";
  }
  static OneSetting unchangeable(const SettingCase& one) {
    OneSetting machine(one);
    std::filesystem::create_symlink(one.unchangeable, machine.path_);
    return machine;
  }

  MachineSetting setting(bool own_timestamps = false) const {
    for (const MachineSetting& one : machine_settings(own_timestamps, proc()))
      if (one.probe().name == name_) return one;
    throw std::logic_error("no setting " + name_);
  }
  std::string now() const { return read_text_file(path_).value_or(""); }

 private:
  std::string proc() const { return directory_.path(); }

  TempDirectory directory_;
  const std::string name_, path_;
};

class EachMachineSetting : public testing::TestWithParam<SettingCase> {};

TEST_P(EachMachineSetting, IsChangedWhenANodeBegins) {
  const OneSetting machine(GetParam(), GetParam().harmful);
  const MachineSetting setting = machine.setting();
  EXPECT_TRUE(setting.probe().ok);
  EXPECT_NE(setting.probe().detail.find("until a node begins"), std::string::npos);
  EXPECT_EQ(setting.change(), Outcome::changed);
  EXPECT_EQ(machine.now(), GetParam().changed + "\n");
  EXPECT_EQ(setting.change(), Outcome::no_need);
  EXPECT_TRUE(setting.probe().ok);
  EXPECT_EQ(setting.probe().detail, GetParam().harmless);
}

TEST_P(EachMachineSetting, ThatMayNotBeChangedIsToldOf) {
  const OneSetting machine = OneSetting::unchangeable(GetParam());
  const MachineSetting setting = machine.setting();
  EXPECT_EQ(setting.change(), Outcome::refused);
  EXPECT_FALSE(setting.probe().ok);
  EXPECT_EQ(setting.probe().fix, GetParam().fix);
}

TEST_P(EachMachineSetting, ThatIsMissingNeedsNothing) {
  const OneSetting machine(GetParam());
  const MachineSetting setting = machine.setting();
  EXPECT_EQ(setting.change(), Outcome::no_need);
  EXPECT_TRUE(setting.probe().ok);
  EXPECT_EQ(setting.probe().detail, "not known");
  EXPECT_EQ(machine.now(), "");
}

INSTANTIATE_TEST_SUITE_P(All, EachMachineSetting,
                         testing::Values(kTimestamps, kSystemCalls, kMemoryShortage));

TEST(MachineSettings, AreAllTested) {
  EXPECT_EQ(machine_settings(/*own_timestamps=*/false).size(), 3U);
}

TEST(MachineSettings, OfTheLogStayAsTheOperatorReducedThem) {
  for (const char* value : {"kill_thread", ""}) {
    const OneSetting machine(kSystemCalls, value);
    EXPECT_EQ(machine.setting().change(), Outcome::no_need);
    EXPECT_EQ(machine.now(), value + std::string("\n"));
  }
}

TEST(MachineSettings, OfTimestampsStayWhereEachSandboxHasItsOwn) {
  const OneSetting machine(kTimestamps, kTimestamps.harmful);
  const MachineSetting setting = machine.setting(/*own_timestamps=*/true);
  EXPECT_EQ(setting.change(), Outcome::no_need);
  EXPECT_EQ(machine.now(), "1\n");
  EXPECT_TRUE(setting.probe().ok);
  EXPECT_EQ(setting.probe().detail, "off in each sandbox");
}

}  // namespace
}  // namespace sandgate::test
