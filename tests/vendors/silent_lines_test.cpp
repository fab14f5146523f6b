#include <gtest/gtest.h>

#include "providers/cloudflare/cloudflare.hpp"
#include "providers/vercel/vercel.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

// The answer to a shell line of ours is a stream, which has no deadline. A connection that goes
// silent must not hold the caller, who may be the sweep of all sandboxes.
namespace sandgate::test {
namespace {

TEST(SilentLines, CloudflareIsNotWaitedForWithoutEnd) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider =
      std::make_shared<CloudflareProvider>(client, loop.executor(), CloudflareSettings{});
  client.script({{200, {}, "event: exit\ndata: {\"exit_code\":0}\n\n"}});
  EXPECT_EQ(loop.run(provider->run("b1", "true")).status, 0);
  EXPECT_GT(client.last().silence, std::chrono::seconds(60)) << "a line may print nothing";
}

TEST(SilentLines, VercelIsNotWaitedForWithoutEnd) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider = std::make_shared<VercelProvider>(client, loop.executor(), VercelSettings{});
  const Json box{{"sandbox", {{"name", "b1"}, {"status", "running"}}},
                 {"session", {{"id", "s1"}, {"cwd", "/home"}}}};
  const Json done{{"command", {{"id", "c1"}, {"exitCode", 0}}}};
  client.script({{200, {}, box.dump()}, {200, {}, done.dump() + "\n"}});
  EXPECT_EQ(loop.run(provider->run("b1", "true")).status, 0);
  EXPECT_GT(client.last().silence, std::chrono::seconds(60)) << "a line may print nothing";
}

}  // namespace
}  // namespace sandgate::test
