#include "local/egress/fair_resolver.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>

namespace sandgate::egress {
namespace {

using namespace std::chrono_literals;

// Names that begin with "hang" are found only when the test says so.
class FairResolverTest : public ::testing::Test {
 protected:
  ~FairResolverTest() override { let_go(); }

  FairResolver make(FairResolver::Limits limits) {
    return FairResolver(loop_, limits, [this](const std::string& name) { return find(name); });
  }
  void let_go() {
    std::lock_guard lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }
  void ask(FairResolver& resolver, std::string tenant, std::string sandbox, std::string name) {
    spawn_detached(loop_.get_executor(), [=, this, &resolver]() -> Task<void> {
      FairResolver::Requester requester{tenant, sandbox};
      auto asking = resolver.addresses_of(requester, name);
      const auto found = co_await std::move(asking);
      (found ? found_ : late_).insert(name);
    });
  }
  size_t hanging() {
    std::lock_guard lock(mutex_);
    return hanging_;
  }
  // Until the names were found, or some seconds have passed.
  void run_until_found(const std::set<std::string>& names) {
    loop_.restart();
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (!std::ranges::includes(found_, names) && std::chrono::steady_clock::now() < end)
      loop_.run_for(5ms);
  }

  asio::io_context loop_{1};
  std::set<std::string> found_, late_;

 private:
  Addresses find(const std::string& name) {
    std::unique_lock lock(mutex_);
    if (!name.starts_with("hang")) return {asio::ip::make_address("192.0.2.1")};
    ++hanging_;
    changed_.wait(lock, [this] { return free_; });
    return {};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool free_ = false;
  size_t hanging_ = 0;
};

TEST_F(FairResolverTest, ATenantWhoseNamesHangLeavesOthersTheirs) {
  FairResolver resolver = make({.threads = 8, .of_sandbox = 2, .timeout = 60s});
  for (int i = 0; i < 40; ++i)
    ask(resolver, "bad", "sb" + std::to_string(i % 8), "hang" + std::to_string(i));
  ask(resolver, "good", "sb-good", "name");
  run_until_found({"name"});
  EXPECT_EQ(found_, std::set<std::string>{"name"});
  EXPECT_LE(hanging(), 4u);
  let_go();
}

TEST_F(FairResolverTest, TwoTenantsWhoseNamesHangLeaveOthersTheirs) {
  FairResolver resolver = make({.threads = 8, .of_sandbox = 2, .timeout = 60s});
  for (int i = 0; i < 40; ++i)
    ask(resolver, i % 2 ? "bad" : "worse", "sb" + std::to_string(i % 16),
        "hang" + std::to_string(i));
  ask(resolver, "good", "sb-good", "name");
  run_until_found({"name"});
  EXPECT_EQ(found_, std::set<std::string>{"name"});
  EXPECT_LE(hanging(), 6u);
  let_go();
}

TEST_F(FairResolverTest, ASandboxWhoseNamesHangLeavesOthersTheirs) {
  FairResolver resolver = make({.threads = 5, .of_sandbox = 2, .timeout = 60s});
  for (int i = 0; i < 40; ++i) ask(resolver, "one", "sb-bad", "hang" + std::to_string(i));
  for (int i = 0; i < 40; ++i) ask(resolver, "one", "sb-good", "name" + std::to_string(i));
  run_until_found({"name0", "name39"});
  EXPECT_EQ(found_.size(), 40u);
  EXPECT_EQ(hanging(), 2u);
  let_go();
}

TEST_F(FairResolverTest, NobodyWaitsBeyondTheDeadline) {
  FairResolver resolver = make({.threads = 1, .of_sandbox = 1, .timeout = 50ms});
  for (int i = 0; i < 5; ++i) ask(resolver, "one", "sb", "hang" + std::to_string(i));
  loop_.run_for(2s);
  EXPECT_EQ(late_.size(), 5u);
  let_go();
  ask(resolver, "one", "sb", "name");
  run_until_found({"name"});
  EXPECT_EQ(found_, std::set<std::string>{"name"}) << "the thread is free again";
}

TEST_F(FairResolverTest, FindsWhatThisMachineKnows) {
  EXPECT_FALSE(host_addresses("localhost").value_or(Addresses()).empty());
  EXPECT_TRUE(host_addresses("no name").value_or(Addresses()).empty());
}

}  // namespace
}  // namespace sandgate::egress
