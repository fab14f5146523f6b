#include "tests/sandboxes/pausing_world.hpp"

namespace sandgate::test {
namespace {

// A vendor that bills no paused sandbox is not booked for its memory.
TEST_F(PausingWorld, MemoryThatAVendorKeepsForNothingIsNotMetered) {
  Descriptor descriptor = world.a->descriptor();
  descriptor.verbs[Verb::pause] = Keeps::memory;
  descriptor.bills_paused_memory = false;
  world.a->offer(std::move(descriptor));
  world.replica.deployments.refresh();
  const SandboxRecord box = world.create();
  EXPECT_EQ(pause(box).kept, Keeps::memory);
  EXPECT_EQ(metered(box), "paused_disk");
  resume(box);
  EXPECT_EQ(metered(box), "running");
}

}  // namespace
}  // namespace sandgate::test
