#include "providers/agentcore/agentcore.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

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

// Output is asked for every few seconds, however long a command takes.
TEST(Agentcore, ACommandOutlivesQuestionsThatFail) {
  LiveLoop loop;
  Vendor vendor(*std::ranges::find(vendor_lines(), "agentcore", &VendorLine::name),
                loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value,
                  .network = {.fallback = NetworkDefault::allow}};
  const BackendSandbox box = loop.run(vendor.provider().create(spec));
  for (const Json& fault : {Json{{"kind", "status"}, {"status", 503}},
                            Json{{"kind", "status"}, {"status", 429}}, Json{{"kind", "reset"}}}) {
    SCOPED_TRACE(fault.dump());
    Command command{.shell = "echo out; exit 3", .process_id = ProcessId::make().value};
    const auto stream = loop.run(vendor.provider().exec(box.backend_id, std::move(command)));
    Json once = fault;
    once.update({{"match", "POST .*/tools/invoke$"}, {"times", 1}});
    vendor.server().fault(once);
    std::string out;
    std::optional<ProcessExit> end;
    while (const auto event = loop.run(stream->next())) {
      if (const auto* chunk = std::get_if<OutputChunk>(&*event)) out += chunk->bytes;
      if (const auto* exit = std::get_if<ProcessExit>(&*event)) end = *exit;
    }
    EXPECT_EQ(out, "out\n");
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 3);
  }
  loop.run(vendor.provider().kill(box.backend_id));
}

}  // namespace
}  // namespace sandgate::test
