#include "gateway/sandboxes/ending/speculative_end.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/sandboxes/counting_world.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::CountingWorld;
using test::kAllMeters;
using test::run;

std::chrono::microseconds since_epoch() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      SystemClock().now().time_since_epoch());
}

// A world whose backend has ended a sandbox, but takes its time to say so.
struct SlowWorld : CountingWorld {
  // Ends the sandboxes at once; their backend answers all after `delay`. `meanwhile` runs before.
  void kill_slowly(
      const std::vector<SandboxRecord>& boxes, std::chrono::milliseconds delay,
      const std::function<void()>& meanwhile = [] {}) {
    a->hang_kills(true);
    std::vector<std::future<EndResult>> ends;
    for (const SandboxRecord& box : boxes)
      ends.push_back(
          asio::co_spawn(replica.pool, replica.lifecycle.kill(tenant, box.id), asio::use_future));
    std::this_thread::sleep_for(delay);
    meanwhile();
    a->hang_kills(false);
    for (auto& end : ends) EXPECT_EQ(end.get(), EndResult::ended);
  }
  std::string waiting_transactions() {
    return sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND state = 'idle in transaction'");
  }
};

// A busy machine may begin one too late.
TEST(SpeculativeEnd, IsBegunBeforeTheBackendAnswers) {
  SlowWorld world;
  bool begun = false;
  for (int i = 0; i < 20 && !begun; ++i) {
    const SandboxRecord box = world.create_earlier();
    std::chrono::microseconds answered{};
    world.kill_slowly({box}, 25ms, [&] { answered = since_epoch(); });
    begun = world.sql("SELECT stop_requested_at < to_timestamp(" +
                      std::to_string(answered.count() / 1e6) +
                      ") - interval '15 ms' FROM sandbox WHERE id = '" + box.id.value + "'") == "t";
    EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
    world.book_ends();
    EXPECT_EQ(world.meters(box.id), kAllMeters);
    EXPECT_TRUE(world.charged_to_its_end(box.id));
  }
  EXPECT_TRUE(begun);
}

TEST(SpeculativeEnd, DoesNotWaitForABackendThatTakesItsTime) {
  SlowWorld world;
  const SandboxRecord box = world.create_earlier();
  world.kill_slowly({box}, 3 * SpeculativeEnd::kWait,
                    [&] { EXPECT_EQ(world.waiting_transactions(), "0"); });
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.unbooked(), "0");
  EXPECT_EQ(world.meters(box.id), kAllMeters);
  EXPECT_TRUE(world.charged_to_its_end(box.id));
  EXPECT_EQ(world.sql("SELECT count(*) FROM event_outbox WHERE type = 'sandbox.killed'"), "1");
}

TEST(SpeculativeEnd, IsForOneOfTheEndsUnderWay) {
  SlowWorld world;
  std::string waiting = "0";
  // Another end's transaction may be seen between two of its statements.
  for (int i = 0; i < 20 && waiting != "1"; ++i)
    world.kill_slowly({world.create(), world.create(), world.create()}, 15ms,
                      [&] { waiting = world.waiting_transactions(); });
  EXPECT_EQ(waiting, "1");
  EXPECT_EQ(world.sql("SELECT DISTINCT state FROM sandbox"), "stopped");
}

}  // namespace
}  // namespace sandgate
