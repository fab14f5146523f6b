#include "gateway/sandboxes/creating/create_queue.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "gateway/core/error.hpp"
#include "tests/sandboxes/held_lock.hpp"
#include "tests/sandboxes/paying_replica.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;
using Step = CreateQueue::Step;

// Creates that enter one after the other; two of a tenant are admitted at once.
struct Queue {
  ~Queue() {
    for (; !admitted.empty(); go_on()) admitted.clear();
  }
  void enter(const std::string& name, const TenantId& of, Step step = Step::begin) {
    auto work = [this, name, of, step]() -> Task<void> {
      auto entering = queue->enter(of, step, 2);
      const auto outcome = co_await attempt(std::move(entering));
      if (const auto* admission = std::get_if<CreateQueue::Admission>(&outcome))
        admitted[name] = *admission;
      else
        refused.push_back(std::get<Error>(outcome).code);
    };
    asio::co_spawn(loop, std::move(work), asio::detached);
    go_on();
  }
  void leave(const std::string& name) {
    admitted.erase(name);
    go_on();
  }
  void go_on() {
    loop.restart();
    loop.poll();
  }
  std::string names() const {
    std::string all;
    for (const auto& [name, admission] : admitted) all += name;
    return all;
  }

  asio::io_context loop;
  std::shared_ptr<CreateQueue> queue = std::make_shared<CreateQueue>();
  std::map<std::string, CreateQueue::Admission> admitted;
  std::vector<ErrorCode> refused;
  const TenantId one = TenantId::make(), other = TenantId::make();
};

TEST(CreateQueue, AdmitsAFewOfATenantInTheirOrder) {
  Queue queue;
  for (const char* name : {"a", "b", "c", "d"}) queue.enter(name, queue.one);
  EXPECT_EQ(queue.names(), "ab");
  EXPECT_FALSE(queue.admitted["a"].is_crowded);
  EXPECT_TRUE(queue.admitted["b"].is_crowded);
  queue.enter("x", queue.other);
  EXPECT_EQ(queue.names(), "abx") << "which waits for nobody";
  EXPECT_FALSE(queue.admitted["x"].is_crowded);
  queue.leave("b");
  EXPECT_EQ(queue.names(), "acx");
  EXPECT_TRUE(queue.admitted["c"].is_crowded);
  queue.leave("a");
  queue.leave("c");
  EXPECT_EQ(queue.names(), "dx");
}

TEST(CreateQueue, WhoHasASandboxGoesFirst) {
  Queue queue;
  for (const char* name : {"a", "b", "c", "d"}) queue.enter(name, queue.one);
  queue.enter("e", queue.one, Step::finish);
  queue.leave("a");
  EXPECT_EQ(queue.names(), "be");
  queue.leave("e");
  EXPECT_EQ(queue.names(), "bc");
}

TEST(CreateQueue, IsBounded) {
  Queue queue;
  for (size_t i = 0; i < CreateQueue::kMaxWaiting + 3; ++i)
    queue.enter(std::to_string(i), queue.one);
  EXPECT_EQ(queue.refused, std::vector{ErrorCode::unavailable});
  queue.enter("x", queue.other);
  EXPECT_TRUE(queue.admitted.contains("x"));
}

// A replica whose budgets somebody else keeps locked, and which waits for them longer than a test.
struct LockedBudget {
  explicit LockedBudget(const std::string& amount) { replica.put(world.tenant, amount, deny); }
  bool is_locked() { return world.sql("SELECT name FROM budget FOR UPDATE SKIP LOCKED").empty(); }
  Task<void> create(CreateOrder order) {
    auto creating = replica.lifecycle.create(std::move(order));
    co_await std::move(creating);
  }

  static constexpr OnExceeded deny = OnExceeded::deny;
  World world;
  PayingReplica replica{world};
  const std::string lock = "SELECT FROM budget FOR UPDATE";
};

TEST(CreateQueue, WhoCanOnlyBeRefusedDoesNotWaitForTheBudget) {
  LockedBudget one("0.7");
  run(one.create(small_order(one.world)));
  HeldLock lock(one.world, one.lock);
  std::atomic<int> early{0};
  const auto refused = [&]() -> Task<void> {
    auto creating = one.create(small_order(one.world));
    const auto outcome = co_await attempt(std::move(creating));
    if (std::get<Error>(outcome).code == ErrorCode::budget_exceeded && one.is_locked()) ++early;
  };
  auto all = std::async(std::launch::async, [&] { at_once(6, refused); });
  EXPECT_TRUE(eventually([&] { return early >= 5; }));
  lock.release();
  all.get();
  EXPECT_EQ(early, 5) << "all but the first, which met nobody";
}

TEST(CreateQueue, WhoWaitsForABudgetLeavesConnectionsToOthers) {
  LockedBudget one("1000");
  const TenantId second = TenantId::make();
  one.world.sql("INSERT INTO tenant (id, name) VALUES ('" + second.value + "', 'two') RETURNING 1");
  HeldLock lock(one.world, one.lock);
  const auto create = [&]() -> Task<void> { return one.create(small_order(one.world)); };
  auto waiting = std::async(std::launch::async, [&] { return at_once(8, create); });
  EXPECT_TRUE(eventually([&] { return one.world.database.has_lock_waiter(); }));
  std::this_thread::sleep_for(100ms);  // for more that would wait
  CreateOrder order = small_order(one.world);
  order.tenant = second;
  auto other = std::async(std::launch::async, [&] { run(one.create(order)); });
  EXPECT_EQ(other.wait_for(10s), std::future_status::ready);
  lock.release();
  other.get();
  EXPECT_TRUE(waiting.get().empty());
  EXPECT_EQ(one.world.sql("SELECT count(*) FROM sandbox WHERE state = 'running'"), "9");
}

TEST(CreateQueue, ACreateThatCostsWhatWasReservedTakesTheLockOnce) {
  LockedBudget one("1000");
  one.world.a->fail_creates(FakeProvider::Fault::slow, ErrorCode::unavailable, 800ms);
  auto creating = std::async(std::launch::async, [&] { run(one.create(small_order(one.world))); });
  EXPECT_TRUE(eventually([&] { return one.world.a->creates() > 0; }));  // it is reserved by then
  HeldLock lock(one.world, one.lock);
  EXPECT_EQ(creating.wait_for(10s), std::future_status::ready);
  lock.release();
  creating.get();
  EXPECT_EQ(one.world.sql("SELECT abs(extract(epoch FROM r.ends_at - s.expires_at)) < 0.5"
                          " FROM reservation r JOIN sandbox s ON s.id = r.sandbox"),
            "t")
      << "and lasts from when it runs";
}

}  // namespace
}  // namespace sandgate::test
