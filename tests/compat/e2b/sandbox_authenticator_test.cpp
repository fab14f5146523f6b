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

// Clients send one token with code, and with all else about contexts only the other.
TEST(SandboxAuthenticator, TheTokenOfTrafficOpensContextsAndNothingElse) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  TenantDirectory tenants(world.tenants, notifications);
  SandboxCache cache(*world.database);
  const AccessTokens tokens(Secret("key"));
  SandboxAuthenticator authenticator(cache, tenants, tokens, "");
  const SandboxId box = world.add_sandbox(world.tenant);
  world.set_state(box, "running");
  const auto opens = [&](const std::string& path, std::string_view header,
                         const std::string& token) {
    http::Request request;
    request.path = path;
    request.headers.add(std::string(kSandboxHeader), box.value);
    request.headers.add(std::string(header), token);
    const auto outcome = sandgate::test::run(attempt(authenticator.authenticate(request)));
    const auto* caller = std::get_if<http::Caller>(&outcome);
    return caller && caller->sandbox == box;
  };
  const std::string token = tokens.token_of(box), traffic = tokens.traffic_token_of(box);
  EXPECT_TRUE(opens("/contexts", kTrafficHeader, traffic));
  EXPECT_TRUE(opens("/contexts/x/restart", kTrafficHeader, traffic));
  EXPECT_TRUE(opens("/contexts", kTokenHeader, token));
  EXPECT_TRUE(opens("/execute", kTokenHeader, token));
  for (const char* path : {"/execute", "/files", "/process.Process/Start", "/contextsx"})
    EXPECT_FALSE(opens(path, kTrafficHeader, traffic)) << path;
  EXPECT_FALSE(opens("/contexts", kTrafficHeader, token));
  EXPECT_FALSE(opens("/contexts", kTokenHeader, traffic));
  EXPECT_FALSE(opens("/contexts", kTrafficHeader, tokens.traffic_token_of(SandboxId::make())));
}

}  // namespace
}  // namespace sandgate::compat::e2b
