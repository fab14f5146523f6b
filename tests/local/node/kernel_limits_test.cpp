#include "local/node/machine/kernel_limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

constexpr const char* kMaxFiles = "9223372036854775807";

// A /proc of which only what counts is there.
struct Machine {
  Machine(const std::string& files, const std::string& pids, const std::string& terminals,
          const std::string& options = "root=/dev/vda rw") {
    std::filesystem::create_directories(proc() + "/sys/kernel/pty");
    std::filesystem::create_directories(proc() + "/sys/fs");
    std::ofstream(proc() + "/sys/fs/file-max") << files << "\n";
    std::ofstream(proc() + "/sys/kernel/pid_max") << pids << "\n";
    std::ofstream(proc() + "/sys/kernel/pty/max") << terminals << "\n";
    std::filesystem::create_directories(proc() + "/sys/net/ipv4");
    for (const char* name : {"tcp_mem", "udp_mem"})
      std::ofstream(proc() + "/sys/net/ipv4/" + name) << "300\t400\t600\n";
    std::ofstream(proc() + "/sys/net/ipv4/tcp_max_orphans") << "16384\n";
    std::ofstream(proc() + "/sys/kernel/threads-max") << "31000\n";
    std::ofstream(proc() + "/cmdline") << options << "\n";
  }
  std::string proc() const { return directory.path(); }
  void raise() const {
    for (const KernelLimit& limit : kernel_limits(proc())) limit.raise();
  }
  std::string now() const {
    std::string files, pids, terminals;
    std::ifstream(proc() + "/sys/fs/file-max") >> files;
    std::ifstream(proc() + "/sys/kernel/pid_max") >> pids;
    std::ifstream(proc() + "/sys/kernel/pty/max") >> terminals;
    return files + " " + pids + " " + terminals;
  }
  std::vector<int64_t> numbers(const std::string& sysctl) const {
    std::ifstream in(proc() + "/sys/" + sysctl);
    return {std::istream_iterator<int64_t>(in), {}};
  }
  std::vector<ProbeResult> probe() const {
    std::vector<ProbeResult> results;
    for (const KernelLimit& limit : kernel_limits(proc())) results.push_back(limit.probe());
    return results;
  }

  TempDirectory directory;
};

TEST(KernelLimits, AreAsHighAsTheyGoOnceANodeBegins) {
  const Machine machine("2466177", "32768", "4096");
  for (const ProbeResult& result : machine.probe()) {
    EXPECT_TRUE(result.ok) << result.name;
    EXPECT_NE(result.detail.find("until a node begins"), std::string::npos) << result.name;
  }
  machine.raise();
  EXPECT_EQ(machine.now(), std::string(kMaxFiles) + " 4194304 1048576");
  for (const ProbeResult& result : machine.probe()) {
    EXPECT_TRUE(result.ok) << result.name;
    EXPECT_EQ(result.detail.find("until"), std::string::npos) << result.name;
  }
}

TEST(KernelLimits, ThatAreHighEnoughStay) {
  const Machine machine("9000000000000000000", "2000000", "100000");
  machine.raise();
  EXPECT_EQ(machine.now(), "9000000000000000000 2000000 100000");
}

// Whatever all sandboxes hold, a quarter of their memory, is below what slows down sockets.
TEST(KernelLimits, OfSocketsAreSharesOfTheMemory) {
  const Machine machine("2466177", "32768", "4096");
  machine.raise();
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  for (const char* name : {"tcp_mem", "udp_mem"}) {
    const std::vector<int64_t> now = machine.numbers("net/ipv4/" + std::string(name));
    ASSERT_EQ(now.size(), 3U) << name;
    EXPECT_EQ(now[0], pages / 4) << name;
    EXPECT_EQ(now[1], pages / 3) << name;
    EXPECT_EQ(now[2], pages / 2) << name;
  }
  EXPECT_NE(Machine("1", "1", "1", "cgroup.memory=nosocket").probe()[3].fix.find("nosocket"),
            std::string::npos);
}

// Beyond them nobody can start a thread, and every connection that is closed is reset instead.
TEST(KernelLimits, OfThreadsAndClosedConnectionsAreBeyondWhatFitsIntoMemory) {
  const Machine machine("2466177", "32768", "4096");
  machine.raise();
  const int64_t bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  EXPECT_GE(machine.numbers("kernel/threads-max").front(), std::min(bytes / 16384, 4'194'304L));
  EXPECT_GE(machine.numbers("net/ipv4/tcp_max_orphans").front(), bytes / 4096);
}

TEST(KernelLimits, OfSocketsStayWhereMemoryDoesNotCountThem) {
  const Machine machine("2466177", "32768", "4096", "cgroup.memory=nosocket");
  machine.raise();
  EXPECT_EQ(machine.numbers("net/ipv4/tcp_max_orphans"), std::vector<int64_t>{16384});
  EXPECT_EQ(machine.numbers("net/ipv4/tcp_mem"), (std::vector<int64_t>{300, 400, 600}));
}

TEST(KernelLimits, OfFilesStayWhereMemoryDoesNotCountThem) {
  const Machine machine("2466177", "32768", "4096", "quiet cgroup.memory=nosocket,nokmem rw");
  machine.raise();
  EXPECT_EQ(machine.now(), "2466177 4194304 1048576");
  const ProbeResult files = machine.probe().front();
  EXPECT_FALSE(files.ok);
  EXPECT_EQ(files.fix, "boot without cgroup.memory=nokmem");
}

// A number that not even root may change.
TEST(KernelLimits, ThatMayNotBeRaisedAreToldOf) {
  const KernelLimit limit(
      {"groups", "kernel.ngroups_max", "/proc/sys/kernel/ngroups_max", 1'000'000, "2000000", ""});
  EXPECT_EQ(limit.raise(), KernelLimit::RaiseResult::refused);
  EXPECT_FALSE(limit.probe().ok);
  EXPECT_EQ(limit.probe().fix, "sysctl -w kernel.ngroups_max=2000000");
}

// With strict accounting a sandbox can reserve what it could never use, and nobody else any more.
TEST(KernelLimits, OfReservedMemoryAreToldOf) {
  const TempDirectory proc;
  std::filesystem::create_directories(proc.path() + "/sys/vm");
  for (const char* mode : {"0", "1", "2"}) {
    std::ofstream(proc.path() + "/sys/vm/overcommit_memory") << mode << "\n";
    const ProbeResult result = probe_reserved_memory(proc.path());
    EXPECT_EQ(result.ok, std::string(mode) != "2") << mode;
    EXPECT_EQ(result.fix.empty(), result.ok) << mode;
  }
  EXPECT_TRUE(probe_reserved_memory("/nonexistent").ok);
}

TEST(KernelLimits, ThatThisKernelDoesNotHaveAreNone) {
  const KernelLimit limit({"none", "none", "/nonexistent", 1, "1", ""});
  EXPECT_EQ(limit.raise(), KernelLimit::RaiseResult::was_enough);
  EXPECT_TRUE(limit.probe().ok);
}

}  // namespace
}  // namespace sandgate::test
