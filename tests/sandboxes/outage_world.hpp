#pragma once
#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {

// A world whose replica keeps a journal for outages.
struct OutageWorld : OwnCluster, World {
  explicit OutageWorld(const std::string& machine = "") : World(machine) { reopen(); }

  // As after a kill -9 of the gateway: another life over the same file and database.
  void reopen() {
    lifecycle.reset();
    outage.reset();
    outage = std::make_unique<OutageJournal>(
        DurableJournal::Options{.path = directory.path() + "/outage.journal"});
    Lifecycle::Parts parts = replica.lifecycle.parts();
    parts.outage = outage.get();
    lifecycle = std::make_unique<Lifecycle>(parts);
  }
  // Replays once the database answers again.
  size_t settle() {
    for (size_t sum = 0;;) {
      const auto outcome = run(attempt(outage->replay(*lifecycle)));
      if (const auto* count = std::get_if<size_t>(&outcome))
        sum += *count;
      else
        EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::unavailable);
      if (!outage->is_pending()) return sum;
      run(sleep_for(std::chrono::milliseconds(20)));
    }
  }
  // Stops the cluster while the backend makes a sandbox, and waits for what comes of it.
  void lose_database_amid_create() {
    a->fail_creates(FakeProvider::Fault::slow, {}, std::chrono::milliseconds(500));
    asio::thread_pool pool(1);
    auto creating = asio::co_spawn(pool, lifecycle->create(order()), asio::use_future);
    EXPECT_TRUE(eventually([&] { return a->creates() > 0; }));
    TestDatabase::stop_cluster();
    EXPECT_EQ(code_of([&] { creating.get(); }), ErrorCode::unavailable);
    pool.join();
  }
  std::string ended_at(const SandboxId& id, const std::string& meter = "vcpu_second") {
    return sql(
        "SELECT (extract(epoch FROM max(interval_end)) * 1000000)::bigint FROM usage_event"
        " WHERE meter = '" +
        meter + "' AND sandbox = '" + id.value + "'");
  }

  TempDirectory directory;
  std::unique_ptr<OutageJournal> outage;
  std::unique_ptr<Lifecycle> lifecycle;
};

}  // namespace sandgate::test
