#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "gateway/cli/commands/commands.hpp"
#include "tests/cli/scripted_server.hpp"

namespace sandgate {
namespace {

using cli::ScriptedServer;

// Runs one command line against a server; the environment is the test's own process's.
int run(const std::string& url, std::vector<const char*> arguments) {
  setenv("SANDGATE_URL", url.c_str(), 1);
  setenv("SANDGATE_API_KEY", "sg_test", 1);
  setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  arguments.insert(arguments.begin(), "sandgate");
  CLI::App app{"Sandgate", "sandgate"};
  app.set_version_flag("--version", "sandgate 1.2.3");
  app.require_subcommand(1);
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  return run_command_line(app, static_cast<int>(arguments.size()), arguments.data(), exit_code);
}

constexpr const char* kNobody = "http://127.0.0.1:1";

TEST(CommandLine, WrongUsageIsTwo) {
  EXPECT_EQ(run(kNobody, {}), 2);
  EXPECT_EQ(run(kNobody, {"frobnicate"}), 2);
  EXPECT_EQ(run(kNobody, {"show"}), 2);
  EXPECT_EQ(run(kNobody, {"profiles"}), 2);
  EXPECT_EQ(run(kNobody, {"list", "--no-such-option"}), 2);
}

TEST(CommandLine, WordsThatAreNotUtf8AreRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(kNobody, {"exec", "--json", "sb1", "--", "echo", "\xFF"}), 1);
  const Json problem = Json::parse(testing::internal::GetCapturedStderr());
  EXPECT_EQ(problem.at("code"), "invalid");
  EXPECT_EQ(problem.at("detail"), "what was given is not all UTF-8, which a request has to be");
}

// What a command of this machine, which no gateway answers, says when it fails.
std::string local_failure(std::vector<const char*> arguments) {
  CLI::App app{"Sandgate", "sandgate"};
  app.add_subcommand("doctor", "")->add_flag("--json");
  app.get_subcommand("doctor")->callback([] {
    throw Error(ErrorCode::invalid, "/a: is odd", {{"/a", "is odd"}, {"/b", "is even"}});
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_command_line(app, static_cast<int>(arguments.size()), arguments.data(), 0), 1);
  return testing::internal::GetCapturedStderr();
}

TEST(CommandLine, CommandsOfTheMachineFailAsOthersDo) {
  EXPECT_EQ(local_failure({"sandgate", "doctor"}), "sandgate: /a: is odd\n  also /b: is even\n");
  const Json problem = Json::parse(local_failure({"sandgate", "doctor", "--json"}));
  EXPECT_EQ(problem, Json::parse(R"({"code":"invalid","detail":"/a: is odd","fields":[
    {"path":"/a","message":"is odd"},{"path":"/b","message":"is even"}]})"));
}

std::string complaint(std::vector<const char*> arguments) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(kNobody, std::move(arguments)), 2);
  std::string text = testing::internal::GetCapturedStderr();
  return text.substr(0, text.find('\n'));
}

TEST(CommandLine, AnUnknownWordIsNamed) {
  EXPECT_EQ(complaint({"frobnicate"}),
            "sandgate: 'frobnicate' is no command or option of 'sandgate'");
  EXPECT_EQ(complaint({"--versoin"}),
            "sandgate: '--versoin' is no command or option of 'sandgate'");
  EXPECT_EQ(complaint({"port", "frob"}),
            "sandgate: 'frob' is no command or option of 'sandgate port'");
  EXPECT_EQ(complaint({"show", "--bogus"}),
            "sandgate: '--bogus' is no command or option of 'sandgate show'");
  EXPECT_EQ(complaint({"exec", "sb1", "ls", "-la"}),
            "sandgate: '-la' is no command or option of 'sandgate exec'; a program that takes "
            "options goes after --");
  EXPECT_EQ(complaint({"exec", "sb1", "--bogus", "5", "--", "ls"}),
            "sandgate: '--bogus' is no command or option of 'sandgate exec'");
  EXPECT_EQ(complaint({"run", "--"}), "sandgate: COMMAND is required");
  EXPECT_EQ(complaint({"--profile", "create"}),
            "sandgate: '--profile' goes after 'sandgate create'");
}

std::string help(std::vector<const char*> arguments) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(kNobody, std::move(arguments)), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(CommandLine, HelpIsZero) {
  EXPECT_NE(help({"run", "--help"}).find("sandgate run [OPTIONS]"), std::string::npos);
  EXPECT_EQ(help({"help"}), help({"--help"}));
  EXPECT_EQ(help({"help", "run"}), help({"run", "--help"}));
  EXPECT_EQ(help({"help", "profiles", "apply"}), help({"profiles", "apply", "--help"}));
}

TEST(CommandLine, VersionIsACommandToo) {
  EXPECT_EQ(help({"--version"}), "sandgate 1.2.3\n");
  EXPECT_EQ(help({"version"}), help({"--version"}));
  EXPECT_EQ(Json::parse(help({"version", "--json"})),
            Json({{"name", "sandgate"}, {"version", "1.2.3"}}));
  EXPECT_NE(help({"--help"}).find("\n  version "), std::string::npos);
  EXPECT_EQ(complaint({"version", "frob"}),
            "sandgate: 'frob' is no command or option of 'sandgate version'");
}

TEST(CommandLine, HelpForAnUnknownWordIsTwo) {
  EXPECT_EQ(complaint({"frobnicate", "--help"}),
            "sandgate: 'frobnicate' is no command or option of 'sandgate'");
  EXPECT_EQ(complaint({"help", "profiles", "frob"}),
            "sandgate: 'frob' is no command or option of 'sandgate profiles'");
}

TEST(CommandLine, AnErrorIsOne) { EXPECT_EQ(run(kNobody, {"list"}), 1); }

std::string refusal(const std::string& url, std::vector<const char*> arguments) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(url, std::move(arguments)), 1);
  return testing::internal::GetCapturedStderr();
}

TEST(CommandLine, WhyNoDeploymentTakesItIsSaid) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(422, R"({"code":"unsupported","detail":"none can","candidates":[
      {"deployment":"local","rejected_because":["image_not_mapped"]},
      {"deployment":"far","rejected_because":["disabled","region_not_allowed"]}]})");
  });
  const std::string text = refusal(server.url(), {"create"});
  EXPECT_NE(text.find("\n  local: image_not_mapped\n  far: disabled; region_not_allowed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("`sandgate image build debian-12`"), std::string::npos);
  const Json problem = Json::parse(refusal(server.url(), {"create", "--json"}));
  EXPECT_EQ(problem["candidates"][1]["deployment"], "far");
}

TEST(CommandLine, AnErrorWithoutAGatewayIsJsonToo) {
  const Json problem = Json::parse(refusal(kNobody, {"list", "--json"}));
  EXPECT_EQ(problem["code"], "unavailable");
  EXPECT_NE(problem["detail"].get<std::string>().find("cannot reach"), std::string::npos);
}

TEST(CommandLine, NoErrorControlsTheTerminal) {
  EXPECT_EQ(refusal(kNobody, {"profiles", "apply", "-f", "no\x1b[31m"}).find('\x1b'),
            std::string::npos);
}

TEST(CommandLine, WhatIsWrongInTheWordsIsTwo) {
  EXPECT_EQ(complaint({"run", "--env", "FOO", "--", "true"}),
            "sandgate: --env: wants NAME=VALUE, not 'FOO'");
  EXPECT_EQ(complaint({"kill"}), "sandgate: kill: which? Give ids, or --all");
  EXPECT_EQ(complaint({"create", "--metadata", "a\nb\x1b[31m"}).find('\x1b'), std::string::npos);
  EXPECT_EQ(run(kNobody, {"create", "--metadata", "x"}), 2);
  EXPECT_EQ(run(kNobody, {"cp", "a", "b"}), 2);
  for (const char* seconds : {"-1", "0", "nan", "x", "1e9"})
    EXPECT_EQ(run(kNobody, {"exec", "--timeout", seconds, "sb1", "--", "true"}), 2) << seconds;
}

TEST(CommandLine, AnEndedSandboxHasItsEnd) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"id":"sb1","state":"stopped",
      "expires_at":"2026-11-20T09:00:00.000000Z","ended_at":"2026-11-20T08:00:00.000000Z",
      "ended_reason":"idle"})");
  });
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"show", "sb1"}), 0);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("ended       2026-11-20 08:00:00Z\nreason      idle\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("expires"), std::string::npos);
}

TEST(CommandLine, SeveralAreDoneEvenIfOneFails) {
  ScriptedServer server([](const auto& request) {
    if (request.target.find("sb1") != std::string::npos)
      return ScriptedServer::json(404, R"({"code":"not_found","detail":"no sandbox"})");
    return ScriptedServer::json(200, R"({"id":"sb2","state":"paused","kept":"memory"})");
  });
  for (const char* verb : {"kill", "pause", "resume"}) {
    testing::internal::CaptureStdout();
    const std::string text = refusal(server.url(), {verb, "sb1", "sb2", "sb1"});
    EXPECT_NE(testing::internal::GetCapturedStdout().find("sb2"), std::string::npos) << verb;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  }
  EXPECT_EQ(server.requests().size(), 9u);
}

TEST(CommandLine, WhatHasNotEndedYetIsNotCalledKilled) {
  ScriptedServer server([](const auto& request) {
    return request.target.ends_with("sb1") ? ScriptedServer::json(204, "")
                                           : ScriptedServer::json(202, R"({"state":"stopping"})");
  });
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"kill", "sb1", "sb2"}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "killed sb1\nstopping sb2\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"kill", "--json", "sb1", "sb2"}), 0);
  EXPECT_EQ(Json::parse(testing::internal::GetCapturedStdout()),
            Json::parse(R"({"killed":["sb1"],"stopping":["sb2"]})"));
}

TEST(CommandLine, DeploymentsAreTheOperators) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"deployments", "set", "d", "--provider", "p"}), 0);
  EXPECT_EQ(run(server.url(), {"deployments", "remove", "d"}), 0);
  testing::internal::GetCapturedStdout();
  unsetenv("SANDGATE_ADMIN_KEY");
  for (const auto& request : server.requests()) {
    EXPECT_NE(request.head.find("Bearer sg_operator"), std::string::npos) << request.head;
    EXPECT_EQ(request.head.find("X-Sandgate-Tenant"), std::string::npos);
  }
}

// Another key does not help where the sandbox itself forbids something.
TEST(CommandLine, NoKeyIsOfferedForWhatASandboxForbids) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(403,
                                R"({"code":"forbidden","detail":"no","refused_by":"sandbox"})");
  });
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  EXPECT_EQ(refusal(server.url(), {"exec", "sb1", "--", "true"}).find("--tenant"),
            std::string::npos);
  unsetenv("SANDGATE_ADMIN_KEY");
}

TEST(CommandLine, WhoHasAnOperatorsKeyIsToldHowToUseIt) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(403, R"({"code":"forbidden","detail":"no"})");
  });
  const std::string hint = "; --tenant ID acts with the operator's key\n";
  EXPECT_EQ(refusal(server.url(), {"webhooks", "list"}).find(hint), std::string::npos);
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  EXPECT_TRUE(refusal(server.url(), {"webhooks", "list"}).ends_with(hint));
  EXPECT_TRUE(refusal(server.url(), {"keys", "list"})
                  .ends_with("; --operator or --tenant ID acts with the operator's key\n"));
  EXPECT_EQ(
      refusal(server.url(), {"keys", "list", "--tenant", "tn0123456789abcdefghijklmn"}).find(hint),
      std::string::npos);
  EXPECT_NE(server.requests().back().head.find("Bearer sg_operator"), std::string::npos);
  EXPECT_EQ(refusal(server.url(), {"tenants", "list"}).find(hint), std::string::npos);
  unsetenv("SANDGATE_ADMIN_KEY");
}

TEST(CommandLine, OperatorsKeysAreReachedWithATenantsKeySet) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[],"id":"ky1","secret":"sg_new"})");
  });
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  setenv("SANDGATE_TENANT", "tn1", 1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"keys", "list", "--operator"}), 0);
  EXPECT_EQ(run(server.url(), {"keys", "rotate", "ky1", "--operator"}), 0);
  EXPECT_EQ(run(server.url(), {"keys", "revoke", "ky1", "--operator"}), 0);
  testing::internal::GetCapturedStdout();
  unsetenv("SANDGATE_TENANT");
  unsetenv("SANDGATE_ADMIN_KEY");
  for (const auto& request : server.requests()) {
    EXPECT_NE(request.head.find("Bearer sg_operator"), std::string::npos) << request.head;
    EXPECT_EQ(request.head.find("X-Sandgate-Tenant"), std::string::npos);
  }
}

TEST(CommandLine, ASuspensionIsEndedByReleasing) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(403, R"({"code":"forbidden","detail":
      "this tenant is suspended: it may only read and delete"})");
  });
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  const std::string text = refusal(server.url(), {"create"});
  unsetenv("SANDGATE_ADMIN_KEY");
  EXPECT_TRUE(text.ends_with("; `sandgate tenants unsuspend` ends that\n")) << text;
}

TEST(CommandLine, AnOperatorsKeyIsMadeForNoTenant) {
  ScriptedServer server(
      [](const auto&) { return ScriptedServer::json(201, R"({"id":"ky1","secret":"sg_new"})"); });
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  setenv("SANDGATE_TENANT", "tn1", 1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"keys", "create", "ops", "--operator"}), 0);
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(server.requests().back().head.find("X-Sandgate-Tenant"), std::string::npos);
  unsetenv("SANDGATE_TENANT");
  unsetenv("SANDGATE_ADMIN_KEY");
}

TEST(CommandLine, RunCreatesExecutesAndKills) {
  ScriptedServer server([](const auto& request) {
    if (request.method == "DELETE") return ScriptedServer::json(204, "");
    if (request.target.ends_with("/exec"))
      return ScriptedServer::of_type("text/event-stream",
                                     "event: exit\ndata: {\"exit_code\":42}\n\n");
    return ScriptedServer::json(201, R"({"id":"sb1"})");
  });

  EXPECT_EQ(run(server.url(), {"run", "--profile", "p", "--", "sh", "-c", "", "--json"}), 42);
  ASSERT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(server.requests()[0].body, R"({"profile":"p"})");
  EXPECT_EQ(server.requests()[1].body, R"({"command":["sh","-c","","--json"]})");
  EXPECT_EQ(server.requests()[2].method + server.requests()[2].target, "DELETE/v1/sandboxes/sb1");
}

TEST(CommandLine, RunKillsAlsoWhenTheProgramCannotStart) {
  ScriptedServer server([](const auto& request) {
    if (request.target.ends_with("/exec"))
      return ScriptedServer::json(503, R"({"code":"unavailable","detail":"gone"})");
    return ScriptedServer::json(request.method == "DELETE" ? 204 : 201, R"({"id":"sb1"})");
  });

  EXPECT_EQ(run(server.url(), {"run", "--", "true"}), 1);
  EXPECT_EQ(server.requests().back().method, "DELETE");
}

TEST(CommandLine, KeepLeavesTheSandbox) {
  ScriptedServer server([](const auto& request) {
    if (request.target.ends_with("/exec"))
      return ScriptedServer::of_type("text/event-stream",
                                     "event: exit\ndata: {\"exit_code\":0}\n\n");
    return ScriptedServer::json(201, R"({"id":"sb1"})");
  });

  EXPECT_EQ(run(server.url(), {"run", "--keep", "--", "true"}), 0);
  EXPECT_EQ(server.requests().back().method, "POST");
}

TEST(CommandLine, OptionsWithPairsMayBeRepeated) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(201, R"({"id":"sb1"})"); });

  EXPECT_EQ(run(server.url(), {"create", "-e", "A=1", "-e", "B=2", "-m", "run=42"}), 0);
  EXPECT_EQ(server.requests()[0].body,
            R"({"env":{"A":"1","B":"2"},"metadata":{"run":"42"},"profile":"python"})");
}

TEST(CommandLine, PauseAndResumeTakeSeveral) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"id":"sb1","state":"paused","kept":"memory"})");
  });

  EXPECT_EQ(run(server.url(), {"pause", "--keep", "disk", "sb1", "sb2"}), 0);
  EXPECT_EQ(run(server.url(), {"resume", "sb1"}), 0);
  EXPECT_EQ(run(server.url(), {"pause", "--keep", "all", "sb1"}), 2);
  ASSERT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(server.requests()[0].target, "/v1/sandboxes/sb1/pause");
  EXPECT_EQ(server.requests()[0].body, R"({"keep":"disk"})");
  EXPECT_EQ(server.requests()[1].target, "/v1/sandboxes/sb2/pause");
  EXPECT_EQ(server.requests()[2].target, "/v1/sandboxes/sb1/resume");
}

TEST(CommandLine, AForkPrintsIdsAndFailsWhenOneIsMissing) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(201, R"({"items":[{"sandbox":{"id":"sb2"}},
      {"error":{"code":"quota_exceeded","detail":"too many"}}]})");
  });

  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"fork", "sb1", "-n", "2"}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "sb2\n");
  EXPECT_EQ(server.requests()[0].target, "/v1/sandboxes/sb1/fork");
  EXPECT_EQ(server.requests()[0].body, R"({"count":2})");
}

TEST(CommandLine, SnapshotsAreMadeRemovedAndStartedFrom) {
  ScriptedServer server([](const auto& request) {
    return ScriptedServer::json(request.method == "DELETE" ? 204 : 201, R"({"id":"sn1"})");
  });

  testing::internal::CaptureStdout();
  EXPECT_EQ(run(server.url(), {"snapshot", "create", "sb1", "--name", "then"}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "sn1\n");
  EXPECT_EQ(run(server.url(), {"create", "--snapshot", "sn1"}), 0);
  EXPECT_EQ(run(server.url(), {"snapshot", "remove", "sn1"}), 0);
  EXPECT_EQ(server.requests()[0].target, "/v1/sandboxes/sb1/snapshots");
  EXPECT_EQ(server.requests()[0].body, R"({"keep":"disk","name":"then"})");
  EXPECT_EQ(server.requests()[1].body, R"({"profile":"python","snapshot":"sn1"})");
  EXPECT_EQ(server.requests()[2].target, "/v1/snapshots/sn1");
}

TEST(CommandLine, EveryCommandCanAnswerInJson) {
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  for (CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == "completion" || command->get_name() == "help") continue;
    const auto inner = command->get_subcommands({});
    for (CLI::App* leaf : inner.empty() ? std::vector<CLI::App*>{command} : inner)
      EXPECT_NE(leaf->get_option_no_throw("--json"), nullptr) << leaf->get_name();
  }
}

}  // namespace
}  // namespace sandgate
