#include "gateway/events/event_log.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/events/events_world.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using test::run;
using test::types_of;
using Types = std::vector<std::string>;

struct EventLogTest : testing::Test, test::EventsWorld {
  EventQuery of(const SandboxId& id) { return {.tenant = tenant, .sandbox = id}; }
};

TEST_F(EventLogTest, EveryStateOfASandboxIsTold) {
  const SandboxId id = add_sandbox(tenant);
  for (const char* state :
       {"running", "pausing", "running", "pausing", "paused", "resuming", "running", "stopping"})
    set_state(id, state);
  set_state(id, "stopped", ", ended_at = now(), stop_reason = 'killed'");
  const auto events = all(of(id));
  // Going back from a pause that failed is no event.
  EXPECT_EQ(types_of(events), (Types{"sandbox.created", "sandbox.running", "sandbox.paused",
                                     "sandbox.resumed", "sandbox.killed"}));
  const Event& last = events.back();
  EXPECT_EQ(last.tenant, tenant);
  EXPECT_EQ(last.subject, "sandboxes/" + id.value);
  EXPECT_EQ(last.data, Json::parse(R"({"sandbox":")" + id.value +
                                   R"(","state":"stopped","profile":"python","profile_version":3,
                                       "reason":"killed","metadata":{"run":"42"}})"));
  EXPECT_TRUE(last.id.starts_with("ev") && is_id("ev", last.id)) << last.id;
}

TEST_F(EventLogTest, AnEndIsToldByItsReason) {
  const std::pair<const char*, const char*> kEnds[] = {
      {"expired", "sandbox.expired"}, {"idle", "sandbox.expired"}, {"killed", "sandbox.killed"}};
  for (const auto& [reason, type] : kEnds) {
    const SandboxId id = add_sandbox(tenant);
    set_state(id, "stopped", std::string(", ended_at = now(), stop_reason = '") + reason + "'");
    EXPECT_EQ(all(of(id)).back().type, type);
  }
  const SandboxId id = add_sandbox(tenant);
  set_state(id, "failed", ", ended_at = now(), failure_code = 'no_capacity', failure_detail = 'x'");
  const Event failed = all(of(id)).back();
  EXPECT_EQ(failed.type, "sandbox.failed");
  EXPECT_EQ(failed.data.at("failure"), Json({{"code", "no_capacity"}, {"detail", "x"}}));
}

TEST_F(EventLogTest, VerbsTellWithOneLine) {
  const SandboxId id = add_sandbox(tenant);
  auto work = [id](pqxx::work& tx) {
    publish_sandbox_event(tx, id, "snapshotted", {{"snapshot", "sn1"}});
  };
  run(database->run(std::move(work)));
  const Event told = all(of(id)).back();
  EXPECT_EQ(told.type, "sandbox.snapshotted");
  EXPECT_EQ(told.data.at("snapshot"), "sn1");
  EXPECT_EQ(told.data.at("sandbox"), id.value);
}

TEST_F(EventLogTest, NothingIsToldOfASandboxAfterItsEnd) {
  const SandboxId id = add_sandbox(tenant);
  set_state(id, "stopped", ", ended_at = now(), stop_reason = 'killed'");
  run(database->run([id](pqxx::work& tx) { publish_sandbox_event(tx, id, "forked"); }));
  EXPECT_EQ(all(of(id)).back().type, "sandbox.killed");
}

TEST_F(EventLogTest, AnEndWaitsForWhatIsBeingTold) {
  const SandboxId id = add_sandbox(tenant);
  std::thread ending;
  auto work = [this, id, &ending](pqxx::work& tx) {
    publish_sandbox_event(tx, id, "forked");
    ending = std::thread(
        [this, id] { set_state(id, "stopped", ", ended_at = now(), stop_reason = 'killed'"); });
    // Not before the end stands at the row, where it has to wait for this to be committed.
    EXPECT_TRUE(test::eventually([this] { return database.has_lock_waiter(); }));
  };
  run(database->run(std::move(work)));
  ending.join();
  const auto events = all(of(id));
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events.back().type, "sandbox.killed");
  EXPECT_EQ(events[events.size() - 2].type, "sandbox.forked");
  EXPECT_LE(events[events.size() - 2].at, events.back().at);
}

TEST_F(EventLogTest, WhatIsRolledBackIsNotTold) {
  auto work = [this](pqxx::work& tx) {
    publish_event(tx, tenant, "budget.alert", "budgets/b", {});
    throw Error(ErrorCode::conflict, "no");
  };
  EXPECT_THROW(run(database->run(std::move(work))), Error);
  EXPECT_TRUE(all().empty());
}

TEST_F(EventLogTest, BudgetsTell) {
  sql("INSERT INTO budget_event (tenant, type, data) VALUES ('" + tenant.value +
      "', 'budget.alert', '{\"budget\": \"monthly\", \"threshold\": 80}')");
  const auto events = all({.tenant = tenant});
  ASSERT_EQ(types_of(events), Types{"budget.alert"});
  EXPECT_EQ(events[0].subject, "budgets/monthly");
  EXPECT_EQ(events[0].data.at("threshold"), 80);
}

TEST_F(EventLogTest, TenantsSeeTheirOwnAndWhatConcernsEverybody) {
  tell(tenant, "budget.alert");
  tell(other, "budget.exceeded");
  tell(std::nullopt, "deployment.opened");
  EXPECT_EQ(types_of(all({.tenant = tenant})), (Types{"budget.alert", "deployment.opened"}));
  EXPECT_EQ(types_of(all({.tenant = other})), (Types{"budget.exceeded", "deployment.opened"}));
  EXPECT_EQ(all().size(), 3u);
  const SandboxId theirs = add_sandbox(other);
  EXPECT_TRUE(all(of(theirs)).empty());
}

TEST_F(EventLogTest, TypesFilter) {
  for (const char* type : {"budget.alert", "budget.exceeded", "deployment.opened"})
    tell(tenant, type);
  EXPECT_EQ(all({.types = {"budget.*"}}).size(), 2u);
  EXPECT_EQ(all({.types = {"*"}}).size(), 3u);
  EXPECT_EQ(types_of(all({.types = {"deployment.opened", "budget.e*"}})),
            (Types{"budget.exceeded", "deployment.opened"}));
  EXPECT_TRUE(all({.types = {"sandbox.*"}}).empty());
}

TEST_F(EventLogTest, ABatchContinuesWhereTheLastEnded) {
  for (int i = 0; i < 25; ++i) tell(tenant, i % 5 == 0 ? "budget.exceeded" : "budget.alert", i);
  run(log.catch_up());
  EventQuery query{.tenant = tenant, .limit = 10};
  std::vector<int> numbers;
  for (EventBatch batch; numbers.size() < 25;) {
    batch = run(log.read(query));
    ASSERT_GT(batch.through, query.after);
    query.after = batch.through;
    for (const Event& event : batch.events) numbers.push_back(event.data.at("number"));
  }
  for (int i = 0; i < 25; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
  // What a filter skips is not looked at again.
  const auto batch = run(log.read({.tenant = tenant, .types = {"deployment.*"}}));
  EXPECT_EQ(batch.through, run(log.newest()));
}

TEST_F(EventLogTest, ASandboxesEventsAreOverWhenTheLastIsInTheLog) {
  const SandboxId id = add_sandbox(tenant);
  run(log.catch_up());
  EXPECT_FALSE(run(log.read(of(id))).over);
  set_state(id, "stopped", ", ended_at = now(), stop_reason = 'killed'");
  EXPECT_FALSE(run(log.read(of(id))).over);
  run(log.catch_up());
  EXPECT_TRUE(run(log.read(of(id))).over);
  EventQuery first = of(id);
  first.limit = 1;
  EXPECT_FALSE(run(log.read(first)).over);
}

TEST_F(EventLogTest, OldEventsAreForgotten) {
  tell(tenant, "budget.alert");
  run(log.catch_up());
  sql("UPDATE event SET at = now() - interval '8 days'");
  tell(tenant, "budget.exceeded");
  run(log.catch_up());
  EXPECT_EQ(run(log.prune(std::chrono::hours(24 * 7), 100)), 1u);
  EXPECT_EQ(run(log.prune(std::chrono::hours(24 * 7), 100)), 0u);
  EXPECT_EQ(types_of(all()), Types{"budget.exceeded"});
}

constexpr int kWriters = 6, kEach = 60;

// Writers whose transactions overlap, replicas that collect, and a reader that keeps its place.
struct EventOrderTest : EventLogTest {
  void write(int writer) {
    pqxx::connection connection(database.url());
    for (int i = 0; i < kEach; ++i) {
      pqxx::work tx(connection);
      publish_event(tx, tenant, "budget.alert", "budgets/b", {{"number", writer * kEach + i}});
      // Half of them commit later than some that told later.
      if (writer % 2 == 0) tx.exec("SELECT pg_sleep(0.004)");
      tx.commit();
    }
    --running;
  }
  void collect() {
    Database own({.url = database.url(), .connections = 1});
    EventLog replica(own);
    while (running > 0) run(replica.collect(7));
  }
  void read() {
    for (bool more = true; more;) {
      EventBatch batch = run(log.read(query));
      more = batch.through > query.after;
      query.after = batch.through;
      seen.insert(seen.end(), batch.events.begin(), batch.events.end());
    }
  }
  template <class Of>
  auto seen_as(Of of) const {
    std::vector<decltype(of(seen[0]))> values;
    for (const Event& event : seen) values.push_back(of(event));
    return values;
  }

  std::atomic<int> running{kWriters};
  EventQuery query{.tenant = tenant, .limit = 11};
  std::vector<Event> seen;
};

// Were the number drawn by the writers, readers would pass by those who commit late.
TEST_F(EventOrderTest, ReadersMissNothingWhateverTheOrderOfCommits) {
  // Told before all others, committed after them.
  pqxx::connection connection(database.url());
  pqxx::work late(connection);
  publish_event(late, tenant, "budget.alert", "budgets/b", {{"number", kWriters * kEach}});

  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer)
    threads.emplace_back([this, writer] { write(writer); });
  for (int i = 0; i < 2; ++i) threads.emplace_back([this] { collect(); });
  while (running > 0) read();
  run(log.catch_up());
  read();
  late.commit();
  run(log.catch_up());
  read();
  for (auto& thread : threads) thread.join();

  const auto numbers =
      seen_as([](const Event& event) { return event.data.at("number").get<int>(); });
  const auto positions = seen_as([](const Event& event) { return event.position; });
  const auto times = seen_as([](const Event& event) { return event.at; });
  EXPECT_EQ(numbers.size(), size_t{kWriters * kEach + 1});
  EXPECT_EQ(std::set<int>(numbers.begin(), numbers.end()).size(), numbers.size());
  EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
  // The control: the last in the log is the first that was told.
  EXPECT_EQ(numbers.back(), kWriters * kEach);
  EXPECT_EQ(times.back(), std::ranges::min(times));
  for (int writer = 0; writer < kWriters; ++writer) {
    std::vector<int> own;
    for (const int number : numbers)
      if (number / kEach == writer) own.push_back(number);
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
  }
}

}  // namespace
}  // namespace sandgate
