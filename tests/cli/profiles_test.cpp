#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

TEST(ProfileCommands, VersionsAreListedWithTheirChannels) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[
      {"version":2,"created_at":"2026-11-20T08:09:10.123456Z","created_by":"ci",
       "channels":["beta","stable"]},
      {"version":1,"created_at":"2026-11-19T08:09:10Z","created_by":"me","channels":[]}]})");
  });
  EXPECT_EQ(tell(server.url(), {"profiles", "versions", "p"}).output,
            "2\t2026-11-20 08:09:10Z\tci\tbeta, stable\n1\t2026-11-19 08:09:10Z\tme\t-\n");
  EXPECT_EQ(server.requests()[0].target, "/v1/profiles/p/versions?limit=100");
}

TEST(ProfileCommands, AChannelIsPointed) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });
  EXPECT_EQ(tell(server.url(), {"profiles", "channel", "p", "stable", "3"}).output,
            "p@stable is version 3\n");
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            "PUT /v1/profiles/p/channels/stable");
  EXPECT_EQ(Json::parse(server.requests()[0].body), (Json{{"version", 3}}));
  EXPECT_EQ(tell(server.url(),
                 {"profiles", "channel", "p", "stable", "3", "--canary", "4:10", "--shadow", "5:1"})
                .output,
            "p@stable is version 3, canary 4:10 %, shadow 5:1 %\n");
  EXPECT_EQ(Json::parse(server.requests()[1].body), Json::parse(R"({"version":3,
    "canary":{"version":4,"percent":10},"shadow":{"version":5,"percent":1}})"));
  for (const char* share : {"4", "4:", ":10", "a:b", "4:10%"})
    EXPECT_EQ(tell(server.url(), {"profiles", "channel", "p", "stable", "3", "--canary", share})
                  .exit_code,
              2)
        << share;
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(ProfileCommands, WhatIsPublishedBesideWhatIsRefusedIsTold) {
  ScriptedServer server([](const auto& request) {
    return request.target == "/v1/profiles/b"
               ? ScriptedServer::json(400, R"({"code":"invalid","detail":"no"})")
               : ScriptedServer::json(200, R"({"name":")" + request.target.substr(13) +
                                               R"(","version":1,"changed":true})");
  });
  std::vector<std::string> files;
  for (const std::string name : {"a", "b", "c"}) {
    files.push_back(testing::TempDir() + "profile-" + name + ".yaml");
    std::ofstream(files.back()) << "name: " << name << "\n";
  }
  const std::string absent = testing::TempDir() + "profile-none.yaml";
  const Told told =
      tell(server.url(), {"profiles", "apply", "-f", files[0].c_str(), "-f", files[1].c_str(), "-f",
                          absent.c_str(), "-f", files[2].c_str()});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_EQ(told.output, "a@1 published\nc@1 published\n");
}

TEST(ProfileCommands, WhatIsWrongNamesTheFile) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(400, R"({"code":"invalid","detail":"/ttl: no","fields":[
      {"path":"/ttl","message":"is not a known field"}]})");
  });
  const auto complaint = [&](const std::string& text) {
    const std::string file = testing::TempDir() + "wrong-profile.yaml";
    std::ofstream(file) << text;
    testing::internal::CaptureStderr();
    EXPECT_EQ(tell(server.url(), {"profiles", "apply", "-f", file.c_str()}).exit_code, 1);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("sandgate: " + file + ": "), 0u) << said;
    return said.substr(("sandgate: " + file + ": ").size());
  };
  EXPECT_EQ(complaint("name: [\n").find("not valid YAML: line"), 0u);
  EXPECT_EQ(complaint("nam: p\n"), "a profile needs a name\n");
  EXPECT_EQ(complaint("name: p\nttl: 1\n").find("/ttl is not a known field (invalid"), 0u);
}

// With a tenant's key set as well, which would be refused.
TEST(ProfileCommands, WhatIsSharedIsChangedWithTheOperatorsKey) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  setenv("SANDGATE_TENANT", "tn1", 1);
  const std::string file = testing::TempDir() + "shared-profile.yaml";
  std::ofstream(file) << "name: p\n";
  using Words = std::vector<const char*>;
  for (Words words : {Words{"apply", "-f", file.c_str()},
                      {"rollback", "p", "1"},
                      {"channel", "p", "stable", "1"},
                      {"remove", "p"}}) {
    words.insert(words.begin(), "profiles");
    words.push_back("--operator");
    EXPECT_EQ(tell(server.url(), words).exit_code, 0) << words[1];
  }
  unsetenv("SANDGATE_TENANT");
  unsetenv("SANDGATE_ADMIN_KEY");
  EXPECT_EQ(server.requests().size(), 4u);
  for (const auto& request : server.requests()) {
    EXPECT_NE(request.head.find("Bearer sg_operator"), std::string::npos) << request.head;
    EXPECT_EQ(request.head.find("X-Sandgate-Tenant"), std::string::npos);
  }
}

TEST(ProfileCommands, AProfileIsRemoved) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(204, ""); });
  EXPECT_EQ(tell(server.url(), {"profiles", "remove", "p"}).output, "profile p is removed\n");
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            "DELETE /v1/profiles/p");
}

}  // namespace
}  // namespace sandgate::cli
