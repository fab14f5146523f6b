#include "providers/vercel.hpp"

#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/one_answer.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

// What a terminal says of its address when an API at `api_url` names `terminal`.
std::string refusal(std::string api_url, std::string terminal) {
  LiveLoop loop;
  OneAnswer client;
  client.document = {
      {"sandbox", {{"name", "sb1"}, {"status", "running"}, {"currentSessionId", "sbx_1"}}},
      {"session", {{"id", "sbx_1"}, {"cwd", "/home"}}},
      {"url", std::move(terminal)},
      {"token", "secret"}};
  VercelSettings settings;
  settings.api_url = std::move(api_url);
  const auto provider =
      std::make_shared<VercelProvider>(client, loop.executor(), std::move(settings));
  const auto outcome = loop.run(attempt(provider->exec("sb1", {.pty = PtySize{}})));
  return std::get<Error>(outcome).what();
}

TEST(VercelTerminal, NothingGoesOutInTheClear) {
  const std::string not_told = not_its_api("vercel").what();
  const std::string safe = "https://api.vercel.com", local = "http://127.0.0.1:1";
  EXPECT_EQ(refusal(safe, "ws://127.0.0.1:1/tty"), not_told);
  EXPECT_EQ(refusal(safe, ""), not_told);
  EXPECT_NE(refusal(safe, "wss://127.0.0.1:1/tty"), not_told);
  EXPECT_NE(refusal(local, "ws://127.0.0.1:1/tty"), not_told) << "neither does the API";
}

TEST(Vercel, AKillLeavesNoSnapshotOfTheEnd) {
  LiveLoop loop;
  const auto& lines = vendor_lines();
  const auto line =
      std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.name == "vercel"; });
  ASSERT_NE(line, lines.end());
  Vendor vendor(*line, loop.executor());
  for (const bool refused : {false, true}) {
    if (refused) vendor.server().fault({{"match", "PATCH "}, {"kind", "status"}, {"status", 422}});
    CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line->image};
    spec.network.fallback = NetworkDefault::allow;
    const auto box = loop.run(vendor.provider().create(std::move(spec)));
    loop.run(vendor.provider().kill(box.backend_id));
    EXPECT_EQ(vendor.server().state()["boxes"], Json::array());
    EXPECT_EQ(vendor.server().state()["saved"], refused ? 1 : 0);
  }
}

}  // namespace
}  // namespace sandgate::test
