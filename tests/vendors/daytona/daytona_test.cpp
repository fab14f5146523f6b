#include "providers/daytona/daytona.hpp"

#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

class DaytonaAccount : public testing::Test {
 protected:
  std::shared_ptr<DaytonaProvider> at(std::string api_url) {
    DaytonaSettings settings;
    settings.api_url = std::move(api_url);
    settings.api_key = Secret("key");
    return std::make_shared<DaytonaProvider>(client_, loop_.executor(), settings);
  }
  LiveLoop loop_;
  ScriptedClient client_;
};

TEST_F(DaytonaAccount, WhatFailedRunsNoMoreAndIsLeftToBeKilled) {
  const auto provider = at("https://daytona.example/api");
  for (const char* state : {"error", "build_failed"}) {
    const Json box{{"id", "1"}, {"state", state}, {"labels", {{"sandgate_id", "sb1"}}}};
    client_.always({200, {}, box.dump()});
    EXPECT_FALSE(loop_.run(provider->find("1"))) << state;
    const Json all{{"items", Json::array({box, {{"id", "2"}, {"state", state}}})}};
    client_.always({200, {}, all.dump()});
    const auto listed = loop_.run(provider->list());
    ASSERT_EQ(listed.size(), 1u) << state;
    EXPECT_EQ(listed[0].backend_id, "1");
    EXPECT_EQ(listed[0].state, BackendState::gone);
    EXPECT_EQ(client_.last().method, "GET") << "it may be another installation's";
  }
}

TEST_F(DaytonaAccount, ItsKeyDoesNotGoOutInTheClear) {
  client_.always({200, {}, R"({"id":"1","state":"started","toolboxProxyUrl":"http://proxy"})"});
  const auto read = [this](const std::shared_ptr<DaytonaProvider>& provider) {
    const auto outcome = loop_.run(attempt(provider->run("1", "true")));
    return client_.last().url;
  };
  EXPECT_EQ(read(at("https://daytona.example/api")), "https://daytona.example/api/sandbox/1");
  EXPECT_EQ(read(at("http://127.0.0.1:1/api")), "http://proxy/1/process/execute");
}

// Added to the sandbox's age, an hour more of an old sandbox would be its age and an hour.
TEST_F(DaytonaAccount, AnExtensionCountsFromNow) {
  const auto provider = at("https://daytona.example/api");
  client_.always({200, {}, R"({"id":"1","state":"started","createdAt":"2020-01-01T00:00:00Z"})"});
  for (const auto& [seconds, minutes] : {std::pair{3600, "60"}, {3601, "61"}, {0, "1"}}) {
    loop_.run(provider->extend("1", std::chrono::seconds(seconds)));
    EXPECT_EQ(client_.last().method, "POST");
    EXPECT_EQ(client_.last().url,
              "https://daytona.example/api/sandbox/1/ttl/" + std::string(minutes));
  }
}

TEST(DaytonaSessions, ASessionWhoseCommandDoesNotStartIsRemoved) {
  LiveLoop loop;
  const auto& lines = vendor_lines();
  const auto line =
      std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.name == "daytona"; });
  Vendor vendor(*line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line->image};
  const std::string id = loop.run(vendor.provider().create(std::move(spec))).backend_id;
  const Json refused{
      {"match", "POST .*/process/session/[^/]+/exec$"}, {"kind", "status"}, {"status", 500}};
  const Json lost{{"match", "POST .*/process/session$"}, {"kind", "lost_reply"}};
  for (const Json& fault : {refused, lost}) {
    vendor.server().fault(fault);
    const Command command{.argv = {"true"}, .process_id = ProcessId::make().value};
    EXPECT_THROW(loop.run(vendor.provider().exec(id, command)), Error);
    const auto is_removed = [&] {
      const Json state = vendor.server().state();
      return std::ranges::any_of(state["asked"], [&](const Json& asked) {
        const std::string request = asked.get<std::string>();
        return request.starts_with("DELETE ") &&
               request.ends_with("/session/" + command.process_id);
      });
    };
    EXPECT_TRUE(eventually(is_removed)) << fault;
    vendor.server().clear_faults();
  }
  loop.run(vendor.provider().kill(id));
}

}  // namespace
}  // namespace sandgate::test
