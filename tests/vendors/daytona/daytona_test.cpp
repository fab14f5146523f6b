#include "providers/daytona/daytona.hpp"

#include <gtest/gtest.h>

#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

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

}  // namespace
}  // namespace sandgate::test
