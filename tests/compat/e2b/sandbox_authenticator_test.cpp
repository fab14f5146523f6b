#include "gateway/compat/e2b/sandbox_authenticator.hpp"

#include <gtest/gtest.h>

#include "gateway/compat/e2b/sandbox_address.hpp"
#include "tests/events/events_world.hpp"

namespace sandgate::compat::e2b {
namespace {

TEST(SandboxAuthenticator, LetsWatchersOfAnEndedSandboxBeRemoved) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  TenantDirectory tenants(world.tenants, notifications);
  SandboxCache cache(*world.database);
  const AccessTokens tokens(Secret("key"));
  SandboxAuthenticator authenticator(cache, tenants, tokens, "");
  const SandboxId box = world.add_sandbox(world.tenant);
  world.set_state(box, "stopped", ", ended_at = now(), stop_reason = 'killed'");
  const auto ask = [&](const std::string& path, const std::string& token) {
    http::Request request;
    request.path = path;
    request.headers.add(std::string(kSandboxHeader), box.value);
    request.headers.add(std::string(kTokenHeader), token);
    return sandgate::test::run(authenticator.authenticate(request)).sandbox;
  };
  const std::string service = "/filesystem.Filesystem/", token = tokens.token_of(box);
  EXPECT_EQ(ask(service + "RemoveWatcher", token), box);
  EXPECT_THROW(ask(service + "RemoveWatcher", token + "x"), Error);
  EXPECT_THROW(ask(service + "GetWatcherEvents", token), Error);
  EXPECT_THROW(ask(service + "Stat", token), Error);
}

}  // namespace
}  // namespace sandgate::compat::e2b
