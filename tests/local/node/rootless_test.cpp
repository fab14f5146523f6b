// A node of an ordinary account: fewer promises, the same walls.
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "local/image/import.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/local/local_node.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kAccount = 54321;

// Runs as the account, in a process of its own; its exit code says whether it worked.
template <class F>
bool as_account(F work) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(kAccount, kAccount, kAccount) != 0 ||
        setresuid(kAccount, kAccount, kAccount) != 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)
      _exit(2);
    try {
      _exit(work() ? 0 : 1);
    } catch (const std::exception& failure) {
      fprintf(stderr, "%s\n", failure.what());
    }
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

std::string reason_to_skip() {
  if (geteuid() != 0) return "needs root, to become an ordinary account";
  if (!fs::exists("/bin/busybox")) return "needs /bin/busybox, of the package busybox-static";
  if (!as_account([] { return unshare(CLONE_NEWUSER) == 0; }))
    return "this kernel gives user namespaces to root only";
  return "";
}

class RootlessTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!reason_to_skip().empty()) return;
    node_ = new LocalNode(0, 1, "", "", kAccount);
    const bool imported = as_account([] {
      ImageStore store(node_->data_dir() + "/images");
      const std::string layout = store.make_draft() + "/layout";
      std::vector<Member> layer = busybox_layer();
      std::ifstream hoarder(SANDGATE_TEST_HOARDER, std::ios::binary);
      const std::string program{std::istreambuf_iterator<char>(hoarder), {}};
      layer.push_back({"bin/hoarder", Member::file, program, 0755});
      write_layout(layout, {tar_of(layer)}, {{"Env", {"PATH=/bin"}}});
      import_image(store, "busybox", layout, [](std::string_view) {});
      return true;
    });
    ASSERT_TRUE(imported);
    CreateSpec spec = node_->spec();
    spec.image = "busybox";
    id_ = node_->create(spec);
  }
  static void TearDownTestSuite() {
    delete node_;
    node_ = nullptr;
  }
  void SetUp() override {
    if (std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    ASSERT_NE(id_, "") << "the suite was not set up";
  }
  static LocalNode& node() { return *node_; }
  static std::string output(const std::string& line) {
    return node_->exec(id_, Command{.argv = {"/bin/sh", "-c", line}}).out;
  }

  static LocalNode* node_;
  static std::string id_;
};

LocalNode* RootlessTest::node_ = nullptr;
std::string RootlessTest::id_;

TEST_F(RootlessTest, ASandboxLivesAndEnds) {
  EXPECT_EQ(output("id -u; pwd; echo kept > file; cat file"), "0\n/home/user\nkept\n");
  node().write(id_, "/home/user/put", "bytes");
  EXPECT_EQ(output("cat put"), "bytes");
  const pid_t first = static_cast<pid_t>(node().record(id_).pid);
  struct stat status {};
  ASSERT_EQ(stat(("/proc/" + std::to_string(first) + "/cgroup").c_str(), &status), 0);
  std::ifstream in("/proc/" + std::to_string(first) + "/status");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("Uid:\t54321\t54321\t54321\t54321"), std::string::npos);
  CreateSpec spec = node().spec();
  spec.image = "busybox";
  const std::string other = node().create(spec);
  const pid_t pid = static_cast<pid_t>(node().record(other).pid);
  run(node().provider().kill(other));
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(pid) + "/exe"));
}

TEST_F(RootlessTest, TheWallsAreTheSame) {
  EXPECT_EQ(output("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | "
                   "tr -d '\\t\\n'"),
            "CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000"
            "CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2");
  const std::string refused = "echo refused";
  for (const char* attack :
       {"cat /proc/1/environ", "ls /proc/1/root/", "ls /proc/1/fd/", "mount -t tmpfs x /mnt",
        "unshare -Ur true", "chroot / true", "echo h > /proc/sysrq-trigger", ": > /dev/x",
        "hostname evil", "mknod /tmp/n c 1 3", "cat /proc/kcore"}) {
    EXPECT_EQ(
        output(std::string("(") + attack + ") 2>/dev/null | head -c 9 | grep -q . || " + refused),
        "refused\n")
        << attack;
  }
  output("kill -9 1; kill -9 -1");
  EXPECT_EQ(output("echo alive"), "alive\n");
  EXPECT_EQ(output("ls -A /sys; cat /proc/net/route | wc -l"), "1\n");
}

// What the kernel counts per user is the account's, which all sandboxes of the node share.
TEST_F(RootlessTest, NobodyTakesAllThatTheAccountHas) {
  CreateSpec spec = node().spec();
  spec.image = "busybox";
  const std::string sibling = node().create(spec);
  for (const std::string kind : {"inotify", "queue", "timer"}) {
    const std::string taken =
        output("hoarder " + kind +
               " > /tmp/said & for i in $(busybox seq 100); do "
               "busybox grep -q . /tmp/said && break; busybox sleep 0.05; done; cat /tmp/said");
    EXPECT_GT(std::atoi(taken.c_str()), 1) << kind;
    const Command one{.argv = {"/bin/hoarder", kind, "1"}};
    EXPECT_EQ(node().exec(sibling, one).out, "1\n") << kind << ": " << taken << " are taken";
    output("busybox killall hoarder; rm -f /tmp/said");
  }
  run(node().provider().kill(sibling));
}

TEST_F(RootlessTest, WhatIsLostIsSaid) {
  const Descriptor descriptor = node().provider().descriptor();
  EXPECT_FALSE(descriptor.controls.contains(Control::allow_root));
  const auto says = [&](const std::string& text) {
    return std::any_of(descriptor.notes.begin(), descriptor.notes.end(),
                       [&](const std::string& note) { return note.find(text) != note.npos; });
  };
  EXPECT_TRUE(says("ordinary account"));
  EXPECT_TRUE(says("kept in memory"));
  if (!descriptor.controls.contains(Control::memory_limit)) {
    EXPECT_TRUE(says("control groups"));
  }
  EXPECT_THROW(node().exec(id_, Command{.argv = {"/bin/true"}, .user = "root"}), Error);
}

TEST_F(RootlessTest, AKilledNodeLeavesNoSandboxThatWaits) {
  const auto waiting = [] {
    for (const JournalRecord& warm : Journal(node_->run_dir() + "/sandboxes").read_all())
      if (warm.state == RecordState::waiting) return static_cast<pid_t>(warm.pid);
    return pid_t{0};
  };
  pid_t warm = 0;
  for (int i = 0; i < 500 && warm == 0; ++i) {
    warm = waiting();
    if (warm == 0) usleep(20'000);
  }
  ASSERT_NE(warm, 0);
  const int watched = static_cast<int>(syscall(SYS_pidfd_open, warm, 0));
  ASSERT_GE(watched, 0);
  node_->kill();
  node_->start();
  pollfd ended{watched, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1) << "it was swept";
  close(watched);
}

TEST_F(RootlessTest, AKilledNodeLeavesNoSandboxThatItDidNotName) {
  CreateSpec spec = node().spec();
  spec.image = "busybox";
  JournalRecord record = node().record(node().create(spec));
  const int watched = static_cast<int>(syscall(SYS_pidfd_open, record.pid, 0));
  ASSERT_GE(watched, 0);
  node_->kill();
  record.pid = 0;
  record.start_time = 0;
  record.state = RecordState::creating;
  std::ofstream(node().run_dir() + "/sandboxes/" + record.id + "/sandbox.json")
      << to_json(record).dump();
  node_->start();
  pollfd ended{watched, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1) << "it was swept";
  close(watched);
  EXPECT_EQ(output("echo still"), "still\n") << "the other one was not";
}

TEST_F(RootlessTest, ARestartedNodeKnowsItsSandboxes) {
  node().kill();
  node().start();
  EXPECT_EQ(output("echo still"), "still\n");
  EXPECT_EQ(run(node().provider().list()).size(), 1u);
}

}  // namespace
}  // namespace sandgate::test
