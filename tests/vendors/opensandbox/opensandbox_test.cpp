#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "providers/opensandbox/opensandbox.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

Json denying_settings(const std::string& url) {
  return {{"api_url", url + "/v1"}, {"egress_enforced", true}, {"secure_access", true}};
}

Json proxied_settings(const std::string& url) {
  return {{"api_url", url + "/v1"}, {"use_server_proxy", true}};
}

std::unique_ptr<Vendor> server_with(Json (*settings)(const std::string&), LiveLoop& loop) {
  for (VendorLine line : vendor_lines()) {
    if (line.name != "opensandbox") continue;
    line.settings = settings;
    line.specs = "opensandbox";
    return std::make_unique<Vendor>(line, loop.executor());
  }
  return nullptr;
}

// All verbs, against the server's published descriptions.
TEST(OpenSandboxServer, RequestsFitItsDescriptions) {
  LiveLoop loop;
  const auto vendor = server_with(&denying_settings, loop);
  Provider& provider = vendor->provider();
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = "tools", .env = {{"A", "b"}}};
  const auto box = loop.run(provider.create(spec));
  loop.run(provider.extend(box.backend_id, std::chrono::seconds(300)));
  EXPECT_EQ(loop.run(provider.list()).size(), 1u);
  EXPECT_TRUE(loop.run(provider.find_by_tag(spec.sandbox_id)));
  TextBytes file("text");
  EXPECT_EQ(loop.run(provider.write_file(box.backend_id, "f", 0600, file)).size, 4u);
  loop.run(provider.read_file(box.backend_id, "f", {}));
  loop.run(provider.pause(box.backend_id, Keeps::memory));
  loop.run(provider.resume(box.backend_id));
  const std::string name = SnapshotId::make().value;
  const auto taken = loop.run(provider.snapshot(box.backend_id, name, Keeps::disk, true));
  loop.run(provider.remove_snapshot(taken.backend_id));
  loop.run(provider.kill(box.backend_id));
  EXPECT_EQ(vendor->server().state()["boxes"], Json::array());
  if (!vendor->server().checks_requests()) GTEST_SKIP() << "SANDGATE_VENDOR_SPECS is not set";
  EXPECT_EQ(vendor->server().state()["violations"], Json::array());
}

// Its way to a sandbox asks for the key as well; a sandbox that is reached directly never sees it.
TEST(OpenSandboxServer, OnlyTheServerIsShownTheKey) {
  LiveLoop loop;
  for (const auto settings : {&denying_settings, &proxied_settings}) {
    const auto vendor = server_with(settings, loop);
    Provider& provider = vendor->provider();
    CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = "tools"};
    spec.network.fallback =
        settings == &denying_settings ? NetworkDefault::deny : NetworkDefault::allow;
    const auto box = loop.run(attempt_within(std::chrono::seconds(20), provider.create(spec)));
    ASSERT_TRUE(std::holds_alternative<BackendSandbox>(box)) << std::get<Error>(box).what();
    const std::string id = std::get<BackendSandbox>(box).backend_id;
    TextBytes file("text");
    EXPECT_EQ(loop.run(provider.write_file(id, "f", 0600, file)).size, 4u);
    Command command{.argv = {"cat", "f"}, .process_id = ProcessId::make().value};
    const auto process = loop.run(provider.exec(id, command));
    EXPECT_EQ(std::get<OutputChunk>(*loop.run(process->next())).bytes, "text");
    EXPECT_EQ(std::get<ProcessExit>(*loop.run(process->next())).exit_code, 0);
    loop.run(provider.kill(id));
    const Json violations = vendor->server().state()["violations"];
    EXPECT_EQ(violations.dump().find("shown the key"), std::string::npos);
  }
}

HttpReply answer_of_server(std::string body, int status = 200) {
  return {status, {}, std::move(body)};
}

TEST(OpenSandboxServer, WhatFailedRunsNoMoreAndIsLeftToBeKilled) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider =
      std::make_shared<OpenSandboxProvider>(client, loop.executor(), OpenSandboxSettings{});
  Json items = Json::array();
  for (const char* state : {"Failed", "Terminated"})
    items.push_back(
        {{"id", state}, {"metadata", {{"sandgate_id", "sb1"}}}, {"status", {{"state", state}}}});
  client.always(answer_of_server(Json{{"items", items}}.dump()));
  const auto listed = loop.run(provider->list());
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].backend_id, "Failed");
  EXPECT_EQ(listed[0].state, BackendState::gone);
  EXPECT_FALSE(loop.run(provider->find_by_tag("sb1")));
}

TEST(OpenSandboxServer, ASnapshotThatFailedIsFoundSoThatItIsRemoved) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider =
      std::make_shared<OpenSandboxProvider>(client, loop.executor(), OpenSandboxSettings{});
  const auto page_of = [](const char* id, const char* state, bool more) {
    const Json item{{"id", id}, {"name", "snours"}, {"status", {{"state", state}}}};
    const Json page{{"items", Json::array({item})}, {"pagination", {{"hasNextPage", more}}}};
    return answer_of_server(page.dump());
  };
  client.script({page_of("s1", "Failed", false)});
  EXPECT_EQ(loop.run(provider->find_snapshot("snours"))->backend_id, "s1");
  client.script({page_of("s1", "Failed", true), page_of("s2", "Ready", false)});
  EXPECT_EQ(loop.run(provider->find_snapshot("snours"))->backend_id, "s2");
}

// Ports of a Docker host go from a sandbox that ended to the next.
TEST(OpenSandboxServer, ASandboxIsReachedWhereTheServerSaysThatItIsNow) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider = std::make_shared<OpenSandboxProvider>(
      client, loop.executor(),
      OpenSandboxSettings{.api_url = "https://osb.example/v1", .sandbox_scheme = "https"});
  const HttpReply done = answer_of_server("{\"type\":\"execution_complete\"}\n");
  for (const std::string place : {"host:40001", "host:40002"}) {
    client.script({answer_of_server(Json{{"endpoint", place}}.dump()), done});
    EXPECT_EQ(loop.run(provider->run("b1", "true")).status, 0);
    EXPECT_EQ(client.asked().back(), "POST https://" + place + "/command");
  }
  client.script({answer_of_server("{}", 404)});
  const auto gone = loop.run(attempt(provider->run("b1", "true")));
  ASSERT_TRUE(std::holds_alternative<Error>(gone));
  EXPECT_EQ(std::get<Error>(gone).code, ErrorCode::not_found);
}

}  // namespace
}  // namespace sandgate::test
