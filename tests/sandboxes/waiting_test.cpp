#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "tests/sandboxes/world.hpp"

// What waits for a pause or a copy that is under way, and what is told of those who do not.
namespace sandgate::test {
namespace {

using Fault = FakeProvider::Fault;

class WaitingWorld : public testing::Test {
 protected:
  void pause(const SandboxRecord& box) { run(pausing.pause(world.tenant, box.id, Keeps::memory)); }

  World world;
  Pausing pausing{world.replica.lifecycle};
};

TEST_F(WaitingWorld, ARefusalTellsTheState) {
  const SandboxRecord box = world.create();
  const auto state_told = [](Task<SandboxRecord> task) {
    const auto outcome = run(attempt(std::move(task)));
    const auto& details = std::get<Error>(outcome).details;
    return details.contains("state") ? details["state"].get<std::string>() : "none";
  };
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(state_told(pausing.pause(world.tenant, box.id, Keeps::memory)), "running");
  world.a->fail_states(Fault::none);
  pause(box);
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(state_told(pausing.resume(world.tenant, box.id)), "paused");
}

}  // namespace
}  // namespace sandgate::test
