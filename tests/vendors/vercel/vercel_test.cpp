#include "providers/vercel/vercel.hpp"

#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

// What a terminal says of its address when an API at `api_url` names `terminal`.
std::string refusal(std::string api_url, std::string terminal) {
  LiveLoop loop;
  const Json session{
      {"sandbox", {{"name", "sb1"}, {"status", "running"}, {"currentSessionId", "sbx_1"}}},
      {"session", {{"id", "sbx_1"}, {"cwd", "/home"}}},
      {"url", std::move(terminal)},
      {"token", "secret"}};
  ScriptedClient client;
  client.always({200, {}, session.dump()});
  VercelSettings settings;
  settings.api_url = std::move(api_url);
  const auto provider =
      std::make_shared<VercelProvider>(client, loop.executor(), std::move(settings));
  const auto outcome = loop.run(attempt(provider->exec("sb1", {.pty = PtySize{}})));
  return std::get<Error>(outcome).what();
}

TEST(VercelTerminal, NothingGoesOutInTheClear) {
  const std::string not_told = unexpected_answer("vercel").what();
  const std::string safe = "https://api.vercel.com", local = "http://127.0.0.1:1";
  EXPECT_EQ(refusal(safe, "ws://127.0.0.1:1/tty"), not_told);
  EXPECT_EQ(refusal(safe, ""), not_told);
  EXPECT_NE(refusal(safe, "wss://127.0.0.1:1/tty"), not_told);
  EXPECT_NE(refusal(local, "ws://127.0.0.1:1/tty"), not_told) << "neither does the API";
}

class VercelAccount : public testing::Test {
 protected:
  HttpReply box(const char* status) const {
    return {200, {}, Json{{"sandbox", entry(status)}}.dump()};
  }
  Json entry(const char* status) const {
    return {{"name", "sb1"}, {"status", status}, {"tags", {{"sandgate_id", "sb1"}}}};
  }

  LiveLoop loop_;
  ScriptedClient client_;
  const std::shared_ptr<VercelProvider> provider_ =
      std::make_shared<VercelProvider>(client_, loop_.executor(), VercelSettings{});
};

TEST_F(VercelAccount, WhatFailedRunsNoMoreAndIsLeftToBeKilled) {
  for (const char* status : {"failed", "aborted", "stopped"}) {
    client_.always(box(status));
    EXPECT_FALSE(loop_.run(provider_->find("sb1"))) << status;
    const Json page{{"sandboxes", Json::array({entry(status)})}};
    client_.always({200, {}, page.dump()});
    const auto listed = loop_.run(provider_->list());
    ASSERT_EQ(listed.size(), 1u) << status;
    EXPECT_EQ(listed[0].state, BackendState::gone);
  }
}

TEST_F(VercelAccount, WhatCannotStartIsGivenUpAndRemoved) {
  client_.script({box("pending"), box("failed"), {200, {}, "{}"}, {200, {}, "{}"}});
  CreateSpec spec{.sandbox_id = "sb1"};
  const auto outcome = loop_.run(attempt(provider_->create(std::move(spec))));
  ASSERT_TRUE(std::holds_alternative<Error>(outcome));
  EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::no_capacity);
  EXPECT_EQ(client_.last().method, "DELETE");
}

const VendorLine& vercel() {
  const auto& lines = vendor_lines();
  return *std::ranges::find(lines, "vercel", &VendorLine::name);
}

CreateSpec any_box() {
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = vercel().image};
  spec.network.fallback = NetworkDefault::allow;
  return spec;
}

// Each pause leaves a snapshot too, and the vendor lists the newest first.
TEST(Vercel, FindsASnapshotBehindAPageOfLaterOnes) {
  LiveLoop loop;
  Vendor vendor(vercel(), loop.executor());
  Provider& provider = vendor.provider();
  const auto box = loop.run(provider.create(any_box()));
  const std::string ours = SnapshotId::make().value;
  const auto taken = loop.run(provider.snapshot(box.backend_id, ours, Keeps::disk, true));
  for (int later = 0; later < 51; ++later) {
    loop.run(provider.pause(box.backend_id, Keeps::disk));
    loop.run(provider.resume(box.backend_id));
  }
  EXPECT_EQ(vendor.server().state()["saved"], 52);
  const auto found = loop.run(provider.find_snapshot(ours));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->backend_id, taken.backend_id);
}

TEST(Vercel, AKillLeavesNoSnapshotOfTheEnd) {
  LiveLoop loop;
  Vendor vendor(vercel(), loop.executor());
  for (const bool refused : {false, true}) {
    if (refused) vendor.server().fault({{"match", "PATCH "}, {"kind", "status"}, {"status", 422}});
    const auto box = loop.run(vendor.provider().create(any_box()));
    loop.run(vendor.provider().kill(box.backend_id));
    EXPECT_EQ(vendor.server().state()["boxes"], Json::array());
    EXPECT_EQ(vendor.server().state()["saved"], refused ? 1 : 0);
  }
}

}  // namespace
}  // namespace sandgate::test
