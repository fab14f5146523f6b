#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "gateway/core/settle.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

class MetricsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    node_ = std::make_unique<LocalNode>();
  }
  SandboxMetrics metrics(const std::string& id) { return run(node_->provider().metrics(id)); }
  std::unique_ptr<LocalNode> node_;
};

TEST_F(MetricsTest, DiskIsWhatFilesTakeNow) {
  constexpr int64_t kMib = 1 << 20;
  const std::string id = node_->create();
  const int64_t empty = metrics(id).disk_used_bytes;
  EXPECT_LT(empty, 8 * kMib);
  node_->shell(id, "head -c 64M /dev/urandom > ~/big; sync");
  const int64_t full = metrics(id).disk_used_bytes;
  EXPECT_NEAR(static_cast<double>(full - empty), 64.0 * kMib, 2.0 * kMib);
  node_->shell(id, "rm ~/big; sync");
  EXPECT_NEAR(static_cast<double>(metrics(id).disk_used_bytes), static_cast<double>(empty),
              2.0 * kMib);
}

TEST_F(MetricsTest, ProcessorTimeIsWhatProcessesUse) {
  const std::string id = node_->create();
  const SandboxMetrics before = metrics(id);
  node_->python(id, "import time\nwhile time.process_time() < 0.4: pass");
  const SandboxMetrics after = metrics(id);
  const int64_t wall = (after.sampled_at - before.sampled_at).count();
  const int64_t busy = after.cpu_micros - before.cpu_micros;
  EXPECT_GT(busy, 400'000) << "what the program itself says it used";
  EXPECT_LE(busy, wall * 11 / 10) << "one vCPU";
  std::this_thread::sleep_for(200ms);
  EXPECT_LT(metrics(id).cpu_micros - after.cpu_micros, 50'000) << "idle";
}

TEST_F(MetricsTest, WhatADeadOneHadCountedIsKnownWithTheTimeOfItsDeath) {
  const std::string id = node_->create();
  node_->python(id, "import time\nwhile time.process_time() < 0.4: pass");
  const auto find = [&] { return run(node_->provider().find(id)); };
  const Time before = SystemClock().now();
  ASSERT_EQ(::kill(static_cast<pid_t>(node_->record(id).pid), SIGKILL), 0);
  for (int i = 0; i < 500 && find()->state != BackendState::gone; ++i)
    std::this_thread::sleep_for(10ms);
  const auto found = find();
  ASSERT_TRUE(found && found->counted);
  EXPECT_TRUE(found->died);
  EXPECT_EQ(run(node_->provider().deaths()), std::vector<std::string>{id});
  EXPECT_GT(found->counted->cpu_micros, 400'000);
  EXPECT_GE(found->counted->sampled_at, before);
  EXPECT_LT(found->counted->sampled_at, before + 500ms);
  node_->kill();
  node_->start();
  const auto later = find();
  ASSERT_TRUE(later && later->counted);
  EXPECT_TRUE(later->died);
  EXPECT_EQ(later->counted->sampled_at, found->counted->sampled_at);
  EXPECT_EQ(run(node_->provider().finish(id)).sampled_at, found->counted->sampled_at);
}

TEST_F(MetricsTest, WhatDiedWithoutANodeIsCountedByTheNext) {
  const std::string id = node_->create();
  node_->python(id, "import time\nwhile time.process_time() < 0.4: pass");
  const auto pid = static_cast<pid_t>(node_->record(id).pid);
  node_->kill();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; }));
  const Time noticed = SystemClock().now();
  node_->start();
  const auto found = run(node_->provider().find(id));
  ASSERT_TRUE(found && found->counted);
  EXPECT_EQ(found->state, BackendState::gone);
  EXPECT_TRUE(found->died);
  EXPECT_GT(found->counted->cpu_micros, 400'000);
  EXPECT_GE(found->counted->sampled_at, noticed);
  EXPECT_EQ(run(node_->provider().deaths()), std::vector<std::string>{id});
  node_->kill();
  node_->start();
  EXPECT_EQ(run(node_->provider().finish(id)).sampled_at, found->counted->sampled_at) << "once";
}

TEST_F(MetricsTest, OfWhatEndsMeanwhileThereAreNone) {
  const std::string id = node_->create();
  const std::filesystem::path home = node_->run_dir() + "/sandboxes/" + id;
  const std::string bytes = home / "egress_bytes";
  std::ofstream(bytes) << std::string(sizeof(int64_t), '\0');
  // Whoever opens the file waits until the lease is given up.
  Fd lease(open(bytes.c_str(), O_RDWR | O_CLOEXEC));
  signal(SIGIO, SIG_IGN);
  if (fcntl(lease.get(), F_SETLEASE, F_WRLCK) != 0)
    GTEST_SKIP() << "the file system of the node grants no leases";
  auto asked = std::async(std::launch::async, [&] { return code_of([&] { metrics(id); }); });
  // The lease is to be given up once somebody waits.
  EXPECT_TRUE(eventually([&] { return fcntl(lease.get(), F_GETLEASE) != F_WRLCK; }));
  run(node_->provider().kill(id));
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(home); }));
  lease.reset();
  EXPECT_EQ(asked.get(), ErrorCode::not_found);
}

TEST_F(MetricsTest, ADeathWhoseUsageIsUnknownIsAnEndAnyway) {
  const std::string id = node_->create();
  std::filesystem::create_directory(node_->run_dir() + "/sandboxes/" + id + "/egress_bytes");
  ASSERT_EQ(::kill(static_cast<pid_t>(node_->record(id).pid), SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return run(node_->provider().list()).empty(); }));
}

TEST_F(MetricsTest, ADeathThatCannotBeCountedForAMomentIsCountedAfterwards) {
  const std::string id = node_->create();
  node_->python(id, "import time\nwhile time.process_time() < 0.4: pass");
  const auto first = static_cast<pid_t>(node_->record(id).pid);
  const auto find = [&] { return run(node_->provider().find(id)); };
  rlimit before{};
  ASSERT_EQ(prlimit(node_->pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(prlimit(node_->pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  std::this_thread::sleep_for(1500ms);
  const auto dead = find();
  ASSERT_EQ(prlimit(node_->pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(dead && dead->state == BackendState::running) << "the control";
  EXPECT_TRUE(eventually([&] {
    const auto found = find();
    return found && found->state == BackendState::gone;
  }));
  const auto found = find();
  ASSERT_TRUE(found && found->counted);
  EXPECT_TRUE(found->died);
  EXPECT_GT(found->counted->cpu_micros, 400'000);
}

TEST_F(MetricsTest, WhatEndsWithoutADescriptorLeavesNothing) {
  const std::string id = node_->create();
  const std::string home = node_->run_dir() + "/sandboxes/" + id;
  rlimit before{};
  ASSERT_EQ(prlimit(node_->pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  rlim_t next = 0;  // the lowest that is free
  const std::string open = "/proc/" + std::to_string(node_->pid()) + "/fd/";
  while (std::filesystem::is_symlink(open + std::to_string(next))) ++next;
  const rlimit full{next, before.rlim_max};
  ASSERT_EQ(prlimit(node_->pid(), RLIMIT_NOFILE, &full, nullptr), 0);
  const auto ended = run(attempt(node_->provider().kill(id)));
  const bool is_left = !eventually([&] { return !std::filesystem::exists(home); });
  ASSERT_EQ(prlimit(node_->pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_FALSE(std::holds_alternative<Error>(ended));
  EXPECT_FALSE(is_left) << "nobody would remove it before the next start";
}

TEST_F(MetricsTest, AnErrorSaysWhatFailedAndNothingElse) {
  const std::string id = node_->create();
  const std::string bytes = node_->run_dir() + "/sandboxes/" + id + "/egress_bytes";
  std::filesystem::create_directory(bytes);
  try {
    metrics(id);
    ADD_FAILURE() << "the count is no file";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_EQ(error.code, ErrorCode::internal);
    EXPECT_NE(said.find("read byte count"), std::string::npos) << said;
    EXPECT_EQ(said.find("made"), std::string::npos) << "the sandbox is there: " << said;
  }
  std::filesystem::remove(bytes);
  EXPECT_NO_THROW(metrics(id));
}

TEST_F(MetricsTest, WhatAnEndedOneHadCountedIsKnownToTheNextNodeToo) {
  const std::string id = node_->create();
  node_->python(id, "import time\nwhile time.process_time() < 0.4: pass");
  const SandboxMetrics counted = run(node_->provider().finish(id));
  EXPECT_GT(counted.cpu_micros, 400'000);
  node_->kill();
  node_->start();
  const auto found = run(node_->provider().find(id));
  ASSERT_TRUE(found && found->counted);
  EXPECT_EQ(found->state, BackendState::gone);
  EXPECT_EQ(found->counted->cpu_micros, counted.cpu_micros);
  EXPECT_EQ(found->counted->sampled_at, counted.sampled_at);
  EXPECT_EQ(run(node_->provider().finish(id)).cpu_micros, counted.cpu_micros);
  EXPECT_FALSE(run(node_->provider().find_by_tag(id))) << "nothing is there to be ended";
}

}  // namespace
}  // namespace sandgate::test
