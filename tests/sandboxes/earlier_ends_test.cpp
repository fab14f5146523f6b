#include "gateway/sandboxes/upkeep/earlier_ends.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

// A machine of ours, on which sandboxes that began two minutes ago have not been booked since.
struct UnbookedWorld : World {
  UnbookedWorld() : World("here") {}

  SandboxRecord create_earlier() {
    const SandboxRecord box = create();
    sql("UPDATE metered_sandbox SET opened_at = opened_at - interval '2 min', boundary = boundary -"
        " interval '2 min', observed_at = observed_at - interval '2 min' WHERE sandbox = '" +
        box.id.value + "' RETURNING sandbox");
    return box;
  }
  bool is_noted(const SandboxRecord& box) { return is_ended(row(box.id).state); }

  Reconciler reconciler{replica.lifecycle, {}};
};

TEST(EarlierEnds, AreNotedBeforeUsageIsBooked) {
  UnbookedWorld world;
  const SandboxRecord dead = world.create_earlier(), killed = world.create_earlier(),
                      kept = world.create_earlier();
  world.a->die(dead.backend_id, 50s);
  run(world.a->finish(killed.backend_id));
  run(sleep_for(50ms));
  EarlierEnds ends(world.reconciler, {});
  world.replica.meter.set_before_flush([&] { return ends.note(); });
  run(world.replica.meter.flush(*world.database));
  run(world.replica.meter.book_ends(*world.database));
  EXPECT_EQ(world.row(dead.id).state, SandboxState::failed);
  EXPECT_EQ(world.row(killed.id).state, SandboxState::stopped);
  for (const SandboxRecord& box : {dead, killed}) {
    EXPECT_TRUE(world.ended_as_its_backend_says(box));
    EXPECT_TRUE(world.charged_to_its_end(box.id));
  }
  EXPECT_TRUE(world.metered(kept.id));
}

TEST(EarlierEnds, AreLookedForAgainOnlyAfterAGap) {
  UnbookedWorld world;
  const SandboxRecord first = world.create(), second = world.create();
  EarlierEnds often(world.reconciler, {}), seldom(world.reconciler, {.gap = 0ms});
  world.a->die(first.backend_id, 0ms);
  run(often.note());
  EXPECT_TRUE(world.is_noted(first));
  world.a->die(second.backend_id, 0ms);
  run(often.note());
  EXPECT_FALSE(world.is_noted(second));
  run(seldom.note());
  EXPECT_TRUE(world.is_noted(second));
}

TEST(EarlierEnds, HoldUpNobodyWhereNoMachineAnswers) {
  World elsewhere;
  Reconciler reconciler(elsewhere.replica.lifecycle, {});
  const auto begin = std::chrono::steady_clock::now();
  EarlierEnds none(reconciler, {.has_machine = false}), silent(reconciler, {.start = 100ms});
  run(none.note());
  run(silent.note());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

// The usage that is asked for meanwhile has the patience of its own caller.
TEST(EarlierEnds, WaitForTheLookOfAnotherForAWhile) {
  World elsewhere;
  Reconciler reconciler(elsewhere.replica.lifecycle, {});
  EarlierEnds ends(reconciler, {.start = 3s, .patience = 200ms});
  asio::thread_pool pool(2);
  auto looking = asio::co_spawn(pool, ends.note(), asio::use_future);
  std::this_thread::sleep_for(100ms);
  auto waiting = asio::co_spawn(pool, ends.note(), asio::use_future);
  EXPECT_EQ(waiting.wait_for(2s), std::future_status::ready);
  EXPECT_EQ(looking.wait_for(0s), std::future_status::timeout);
  looking.get();
  waiting.get();
  pool.join();
}

}  // namespace
}  // namespace sandgate::test
