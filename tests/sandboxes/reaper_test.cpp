#include "gateway/sandboxes/reaper.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Reaper, ABackendThatHangsHoldsUpItsOwnAlone) {
  World world;
  const auto on_b = [](Profile& p) { p.placement.order = {"b", "a"}; };
  std::vector<SandboxRecord> held;
  for (int i = 0; i < 40; ++i) held.push_back(world.create());
  const SandboxRecord other = world.create(on_b);
  world.a->hang_kills(true);
  Reaper reaper(world.replica.lifecycle, {.ahead = seconds(601), .batch = 100});
  EXPECT_EQ(run(reaper.expire()), 41u);
  for (const SandboxRecord& box : held) EXPECT_FALSE(world.metered(box.id));
  while (world.row(other.id).state != SandboxState::stopped) run(sleep_for(milliseconds(5)));
  EXPECT_EQ(world.row(held[0].id).state, SandboxState::stopping);
  while (world.a->kills() < 16) run(sleep_for(milliseconds(5)));
  EXPECT_EQ(world.a->kills(), 16) << "at once";
  world.a->hang_kills(false);
  run(reaper.rest());
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'stopped'"), "41");
}

TEST(Reconciler, ABackendThatHangsHoldsUpNoOther) {
  World world;
  const SandboxRecord lost = world.create([](Profile& p) { p.placement.order = {"b", "a"}; });
  world.b->lose(lost.backend_id);
  world.a->hang_lists(true);
  Reconciler reconciler(world.replica.lifecycle, {.every = milliseconds(20)});
  asio::io_context loop;
  asio::co_spawn(loop, reconciler.run(), [](std::exception_ptr) {});
  while (world.row(lost.id).state != SandboxState::failed) loop.run_for(milliseconds(10));
  world.a->hang_lists(false);
  run(reconciler.rest());
}

TEST(Errands, AreNotBegunTwiceNorWithoutBound) {
  asio::thread_pool pool(2);
  Errands errands(pool.get_executor(), {.at_once = 1, .waiting = 2});
  std::atomic<bool> go{false};
  std::atomic<int> begun{0};
  const auto work = [&]() -> Task<void> {
    ++begun;
    while (!go) co_await sleep_for(milliseconds(1));
    throw std::runtime_error("is logged");
  };
  for (const char* id : {"one", "one", "two", "three", "four"}) errands.send("a", id, work);
  errands.send("b", "five", work);
  while (begun < 2) run(sleep_for(milliseconds(1)));
  go = true;
  run(errands.rest());
  EXPECT_GE(begun, 3);
  EXPECT_LE(begun, 4) << "one at work, two waiting, and b's";
  errands.send("a", "one", work);
  run(errands.rest());
  EXPECT_GE(begun, 4);
  pool.join();
}

}  // namespace
}  // namespace sandgate::test
