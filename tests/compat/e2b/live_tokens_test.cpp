#include "gateway/compat/e2b/live_tokens.hpp"

#include <gtest/gtest.h>

#include "tests/events/events_world.hpp"

namespace sandgate::compat::e2b {
namespace {

TEST(LiveTokens, FindsWhoseSignatureItIsAlsoOfThoseThatJustCame) {
  sandgate::test::EventsWorld world;
  const AccessTokens tokens(Secret("key"));
  LiveTokens live(*world.database, tokens);
  const SignedFile file{.path = "a"};
  const auto whose = [&](const SandboxId& id) {
    return sandgate::test::run(live.find(file, signature_of(file, tokens.token_of(id))));
  };
  const auto add = [&](const std::string& state) {
    const SandboxId id = world.add_sandbox(world.tenant);
    world.set_state(id, state);
    return id;
  };
  const SandboxId first = add("running");
  EXPECT_EQ(whose(first), first);
  // At once after a reading of the list: the next one is waited for.
  const SandboxId second = add("paused"), coming = add("creating");
  EXPECT_EQ(whose(second), second);
  EXPECT_EQ(whose(first), first);
  EXPECT_EQ(whose(coming), std::nullopt);
  EXPECT_EQ(sandgate::test::run(live.find(file, "v1_nonsense")), std::nullopt);
}

}  // namespace
}  // namespace sandgate::compat::e2b
