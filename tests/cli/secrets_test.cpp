#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate {
namespace {

using cli::ScriptedServer;
using cli::tell;
using cli::Told;

ScriptedServer::Answer nothing() {
  return [](const auto&) { return ScriptedServer::json(204, ""); };
}

void expect_set(const ScriptedServer& server, const std::string& value) {
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            "PUT /v1/secrets/TOKEN");
  EXPECT_EQ(Json::parse(server.requests()[0].body), (Json{{"value", value}}));
}

TEST(Secrets, AreListedByName) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[{"name":"TOKEN",
      "created_at":"2026-11-20T08:09:10.123456Z","updated_at":"2026-11-21T08:09:10.123456Z"}]})");
  });
  EXPECT_EQ(tell(server.url(), {"secrets", "list"}).output,
            "TOKEN\t2026-11-20 08:09:10Z\t2026-11-21 08:09:10Z\n");
}

TEST(Secrets, ComeFromAFileWithoutItsLineBreak) {
  ScriptedServer server(nothing());
  const std::string file = testing::TempDir() + "secret-" + std::to_string(::getpid());
  std::ofstream(file) << "sk-1 \n";
  const Told told = tell(server.url(), {"secrets", "set", "TOKEN", "--value-file", file.c_str()});
  std::filesystem::remove(file);
  EXPECT_EQ(told.output, "secret TOKEN is set\n");
  expect_set(server, "sk-1 ");
}

TEST(Secrets, ComeFromStandardInput) {
  ScriptedServer server(nothing());
  std::istringstream input("sk-2\r\n");
  std::streambuf* before = std::cin.rdbuf(input.rdbuf());
  const Told told = tell(server.url(), {"secrets", "set", "TOKEN", "--value-file", "-", "--json"});
  std::cin.rdbuf(before);
  EXPECT_EQ(Json::parse(told.output), (Json{{"set", "TOKEN"}}));
  expect_set(server, "sk-2");
}

TEST(Secrets, NeverComeFromTheCommandLine) {
  ScriptedServer server(nothing());
  EXPECT_EQ(tell(server.url(), {"secrets", "set", "TOKEN", "sk-3"}).exit_code, 2);
  EXPECT_TRUE(server.requests().empty());
}

// The prompt stands there a moment before the echo ends; people are slower than that.
bool echo_ends(int terminal) {
  termios state{};
  for (int left = 10'000; left > 0; --left) {
    if (::tcgetattr(terminal, &state) == 0 && !(state.c_lflag & ECHO)) return true;
    ::usleep(1000);
  }
  return false;
}

TEST(Secrets, AreTypedUnseen) {
  ScriptedServer server(nothing());
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) ::_exit(tell(server.url(), {"secrets", "set", "TOKEN"}).exit_code);

  std::string seen;
  bool typed = false;
  for (char c; ::read(terminal, &c, 1) == 1;) {
    seen += c;
    if (typed || !seen.ends_with("Value of TOKEN: ")) continue;
    typed = true;
    EXPECT_TRUE(echo_ends(terminal));
    EXPECT_EQ(::write(terminal, "sk-4\n", 5), 5);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(seen.find("sk-4"), std::string::npos) << seen;
  expect_set(server, "sk-4");
}

TEST(Secrets, AreRemoved) {
  ScriptedServer server(nothing());
  EXPECT_EQ(tell(server.url(), {"secrets", "remove", "TOKEN"}).output, "secret TOKEN is removed\n");
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            "DELETE /v1/secrets/TOKEN");
}

}  // namespace
}  // namespace sandgate
