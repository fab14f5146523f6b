#include "providers/agentcore/agentcore.hpp"

#include <gtest/gtest.h>

#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate::test {
namespace {

// The vendor answers a token that it knows without stopping anything.
TEST(Agentcore, EveryStopHasATokenOfItsOwn) {
  LiveLoop loop;
  ScriptedClient client;
  client.always({200, {}, "{}"});
  const auto provider =
      std::make_shared<AgentcoreProvider>(client, loop.executor(), AgentcoreSettings{});
  const auto token_of_stop = [&] {
    loop.run(provider->kill("s1"));
    return Json::parse(client.last().body)["clientToken"].get<std::string>();
  };
  const std::string first = token_of_stop();
  EXPECT_GE(first.size(), 33u);
  EXPECT_NE(token_of_stop(), first);
}

}  // namespace
}  // namespace sandgate::test
