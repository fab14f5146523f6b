#pragma once
#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {

constexpr std::chrono::seconds kIdleTimeout{60};

// A world whose sandboxes are paused and resumed, by callers and for idleness.
class PausingWorld : public testing::Test {
 protected:
  SandboxRecord pause(const SandboxRecord& box, Keeps requested = Keeps::memory) {
    return run(pausing.pause(world.tenant, box.id, requested));
  }
  SandboxRecord pause_to_wait(const SandboxRecord& box) {
    return run(pausing.pause(world.tenant, box.id, Keeps::memory, /*waits=*/true));
  }
  SandboxRecord resume(const SandboxRecord& box) {
    return run(pausing.resume(world.tenant, box.id));
  }
  std::string metered(const SandboxRecord& box) {
    return world.sql("SELECT state FROM metered_sandbox WHERE sandbox = '" + box.id.value + "'");
  }
  SandboxRecord idle() {
    return world.create([](Profile& p) {
      p.idle_timeout_seconds = kIdleTimeout.count();
      p.on_idle = EndAction::pause;
      p.auto_resume = true;
    });
  }
  Task<OpenSandbox> opening(const SandboxRecord& box) {
    http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
    co_return co_await access.open(caller, box.id.value, Verb::exec);
  }
  std::string times_paused() {
    return world.sql("SELECT count(*) FROM event_outbox WHERE type = 'sandbox.paused'");
  }
  void keep_memory() {
    Descriptor descriptor = world.a->descriptor();
    descriptor.verbs[Verb::pause] = Keeps::memory;
    world.a->offer(std::move(descriptor));
  }

  World world;
  Pausing pausing{world.replica.lifecycle};
  CachedAccess access{world.replica.lifecycle, world.replica.activity};
};

}  // namespace sandgate::test
