#include "local/local_provider.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "gateway/core/ids.hpp"
#include "local/node/egress/egress_listeners.hpp"
#include "tests/local/local_node.hpp"

namespace sandgate::test {
namespace {

class LocalProviderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (LocalNode::reason_to_skip().empty()) node_ = new LocalNode();
  }
  static void TearDownTestSuite() {
    delete node_;
    node_ = nullptr;
  }
  void SetUp() override {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    ASSERT_NE(node_, nullptr) << "the suite was not set up";
  }
  static LocalNode* node_;
};
LocalNode* LocalProviderTest::node_ = nullptr;

TEST_F(LocalProviderTest, DeclaresWhatTheNodeOffers) {
  Descriptor descriptor = node_->provider().descriptor();
  EXPECT_EQ(descriptor.provider, "local");
  EXPECT_EQ(descriptor.isolation, Isolation::container);
  EXPECT_TRUE(descriptor.can(Verb::exec));
  EXPECT_TRUE(descriptor.can(Verb::pause));
  EXPECT_TRUE(descriptor.controls.contains(Control::network_deny));
  const bool has_egress = try_egress_listeners().empty();
  EXPECT_EQ(descriptor.controls.contains(Control::network_rules), has_egress);
  EXPECT_EQ(descriptor.controls.contains(Control::secret_injection), has_egress);
  EXPECT_TRUE(descriptor.images.contains("debian-12"));
  // Without disks of their own, sandboxes cannot be copied.
  const bool has_disks = access("/dev/loop-control", R_OK | W_OK) == 0;
  EXPECT_EQ(descriptor.can(Verb::snapshot), has_disks);
  EXPECT_EQ(descriptor.can(Verb::fork), has_disks);
}

TEST_F(LocalProviderTest, CreatesRunsAndKills) {
  std::string id = node_->create();
  ExecResult result = node_->shell(id, "echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_TRUE(run(node_->provider().find(id)));
  run(node_->provider().kill(id));
  EXPECT_FALSE(run(node_->provider().find(id)));
  run(node_->provider().kill(id));
  EXPECT_THROW(node_->shell(id, "true"), Error);
}

TEST_F(LocalProviderTest, RefusesAnIdInUse) {
  CreateSpec spec = node_->spec();
  node_->create(spec);
  try {
    node_->create(spec);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::conflict);
  }
  run(node_->provider().kill(spec.sandbox_id));
}

TEST_F(LocalProviderTest, RefusesHostileWords) {
  for (const char* id : {"", "..", "a/b", "../../etc", "a b", "a\nb"}) {
    CreateSpec spec = node_->spec();
    spec.sandbox_id = id;
    EXPECT_THROW(node_->create(spec), Error) << id;
    EXPECT_THROW(node_->shell(id, "true"), Error) << id;
  }
  CreateSpec spec = node_->spec();
  spec.sandbox_id = std::string(5000, 'a');
  EXPECT_THROW(node_->create(spec), Error);
  const std::string good = node_->create();
  const std::string long_word(5000, 'a');
  for (const std::string& user :
       {std::string("0\n0"), std::string("root:"), std::string("user:root"), std::string("0:0"),
        std::string("../user"), std::string("user\0", 5), long_word}) {
    EXPECT_THROW(node_->shell(good, "true", user), Error) << user;
  }
  EXPECT_EQ(node_->shell(good, "id -un", "user").out, "user\n") << "the control";
  for (const std::string& cwd :
       {std::string("\n"), std::string("/home/user\n"), std::string("/home/user\0/x", 13),
        std::string("/proc/self/fd/0"), std::string("/proc/1/root"), long_word}) {
    Command command{.argv = {"/bin/pwd"}};
    command.cwd = cwd;
    EXPECT_THROW(node_->exec(good, command), Error) << cwd;
  }
  for (const std::string& name :
       {std::string(), std::string("A=B"), std::string("A\0B", 3), std::string("A\nB\0", 4)}) {
    Command command{.argv = {"/usr/bin/env"}};
    command.env[name] = "value";
    EXPECT_THROW(node_->exec(good, command), Error) << name;
  }
  run(node_->provider().kill(good));
  for (const char* image : {"", "..", "../names/debian-12", "nothing", "debian-12/", ".x"}) {
    spec = node_->spec();
    spec.image = image;
    EXPECT_THROW(node_->create(spec), Error) << image;
  }
}

TEST_F(LocalProviderTest, ShowsAProxyOnlyWhereThereIsAWayOut) {
  EXPECT_EQ(node_->shell(node_->create(node_->spec()), "env | grep -ic proxy").out, "0\n");
  CreateSpec spec = node_->spec();
  spec.network.allow = {"example.com:443"};
  EXPECT_EQ(node_->shell(node_->create(spec), "printf %s $HTTPS_PROXY").out, kProxyUrl);
  spec = node_->spec();
  spec.network.allow = {"no rule"};
  EXPECT_THROW(node_->create(spec), Error);
}

TEST_F(LocalProviderTest, GivesTheEnvironmentInsideOnly) {
  CreateSpec spec = node_->spec();
  spec.env = {{"CANARY", "value-that-must-not-rest"}};
  std::string id = node_->create(spec);
  EXPECT_EQ(node_->shell(id, "printf %s \"$CANARY\"").out, "value-that-must-not-rest");
  std::string found = "grep -rl value-that-must-not-rest " + node_->run_dir() + " " +
                      node_->data_dir() + "/disks >/dev/null";
  EXPECT_NE(system(found.c_str()), 0);
  run(node_->provider().kill(id));
}

TEST_F(LocalProviderTest, MeasuresCpuMemoryAndProcesses) {
  std::string id = node_->create();
  node_->shell(id, "for i in $(seq 30000); do :; done; dd if=/dev/zero of=/tmp/x bs=1M count=20");
  SandboxMetrics metrics = run(node_->provider().metrics(id));
  EXPECT_GT(metrics.cpu_micros, 1000);
  EXPECT_GT(metrics.memory_used_bytes, 0);
  EXPECT_EQ(metrics.memory_limit_bytes, 256 << 20);
  EXPECT_GE(metrics.processes, 1);
  run(node_->provider().kill(id));
}

// A figure to watch, not a bar: other work on the machine moves it.
TEST_F(LocalProviderTest, ReportsHowLongALifeTakes) {
  std::vector<double> whole, creates;
  for (int i = 0; i < 60; ++i) {
    auto start = std::chrono::steady_clock::now();
    auto millis = [&] {
      return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
          .count();
    };
    std::string id = node_->create();
    creates.push_back(millis());
    EXPECT_EQ(node_->exec(id, {.argv = {"/usr/bin/true"}}).exit_code, 0);
    run(node_->provider().kill(id));
    whole.push_back(millis());
  }
  for (auto [name, samples] : {std::pair{"create", &creates}, {"create+exec+kill", &whole}}) {
    std::sort(samples->begin(), samples->end());
    std::cout << name << " p50 " << (*samples)[30] << " ms, p95 " << (*samples)[57] << " ms\n";
  }
}

}  // namespace
}  // namespace sandgate::test
