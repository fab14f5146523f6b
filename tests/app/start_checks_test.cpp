#include "gateway/app/start_checks.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "gateway/app/settings_flags.hpp"
#include "gateway/http/bind.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

class StartChecks : public testing::Test {
 protected:
  StartChecks() {
    set("home", directory.path() + "/home");
    set("listen", "127.0.0.1:0");
    set("local.agent", "/bin/true");
  }
  void set(const std::string& path, const std::string& value) { settings[path] = value; }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // Path and reason of each problem.
  std::map<std::string, std::string> problems(const SystemAccount& account) {
    ConfigSources sources;
    for (const auto& [path, value] : settings) sources.flags.emplace_back(path, value);
    std::map<std::string, std::string> found;
    try {
      check_start(load_config(sources), account);
    } catch (const Error& error) {
      for (const FieldProblem& field : error.fields) found[field.path] = field.message;
    }
    return found;
  }
  std::set<std::string> paths() {
    std::set<std::string> named;
    for (const auto& [path, reason] : problems(current_account())) named.insert(path);
    return named;
  }

  test::TempDirectory directory;
  std::map<std::string, std::string> settings;
};

using Paths = std::set<std::string>;

TEST_F(StartChecks, FindNothingWrongWithWhatIsRight) { EXPECT_EQ(paths(), Paths()); }

TEST_F(StartChecks, NameEverythingAtOnce) {
  set("local.agent", "/nonexistent");
  set("local.images", file("images", "a file"));
  set("local.workspaces", "relative:/nonexistent");
  set("local.egress.private_cidrs", "10.0.0.0/8,10.0.0.0/99");
  set("local.egress.authorities", "/nonexistent.pem");
  set("tls.certificate", file("cert", "nonsense"));
  set("tls.key", file("key", "nonsense"));
  EXPECT_EQ(paths(), (Paths{"/local/agent", "/local/images", "/local/workspaces",
                            "/local/egress/private_cidrs", "/local/egress/authorities", "/tls"}));
  set("local.enabled", "false");
  EXPECT_EQ(paths(), (Paths{"/local/egress/private_cidrs", "/tls"}))
      << "of a part that is not wanted only what is written is looked at";
}

TEST_F(StartChecks, AHomeTooLongForItsSockets) {
  set("home", directory.path() + "/" + std::string(100, 'h'));
  EXPECT_EQ(paths(), Paths{"/home"});
}

TEST_F(StartChecks, AHomeThatTheGatewaysAccountCannotReach) {
  const std::string closed = directory.path() + "/closed";
  mkdir(closed.c_str(), 0700);
  chmod(directory.path().c_str(), 0755);
  set("home", closed + "/home");
  const SystemAccount stranger{"stranger", 64'000, 64'000};
  EXPECT_NE(problems(stranger)["/home"].find("chmod o+x " + closed), std::string::npos);
  chmod(closed.c_str(), 0711);
  EXPECT_EQ(problems(stranger).count("/home"), 0u);
}

TEST_F(StartChecks, AMasterKeyThatIsNone) {
  const std::string home = directory.path() + "/home";
  mkdir(home.c_str(), 0700);
  std::ofstream(home + "/master.key") << "";
  EXPECT_EQ(paths(), Paths{"/master_key"});
  std::ofstream(home + "/master.key") << std::string(64, 'a') << "\n";
  EXPECT_EQ(paths(), Paths());
}

TEST_F(StartChecks, AMasterKeyThatIsGoneWhileItsDatabaseIsThere) {
  const std::string home = directory.path() + "/home";
  std::filesystem::create_directories(home);
  EXPECT_EQ(paths(), Paths()) << "of a first start";
  std::filesystem::create_directories(home + "/postgres/data");
  EXPECT_EQ(paths(), Paths{"/master_key"});
  set("master_key", std::string(64, 'a'));
  EXPECT_EQ(paths(), Paths());
}

TEST_F(StartChecks, AMachineThatHasLostItsName) {
  const std::string gateway = directory.path() + "/home/gateway";
  std::filesystem::create_directories(gateway);
  EXPECT_EQ(paths(), Paths()) << "of a first start";
  for (const char* damaged : {"", "\n", "0123456789abcde\n", "0123456789abcdeg\n"}) {
    std::ofstream(gateway + "/machine") << damaged;
    EXPECT_EQ(paths(), Paths{"/home"}) << damaged;
  }
  std::ofstream(gateway + "/machine") << "0123456789abcdef\n";
  EXPECT_EQ(paths(), Paths());
}

TEST_F(StartChecks, APortThatIsTaken) {
  asio::io_context loop;
  const auto taken = http::bind_listener(loop, "127.0.0.1", 0, {});
  set("listen", "127.0.0.1:" + std::to_string(taken.local_endpoint().port()));
  EXPECT_NE(problems(current_account())["/listen"].find("another program has the port"),
            std::string::npos);
}

TEST_F(StartChecks, ADataPortThatIsTakenAlsoByTheApi) {
  asio::io_context loop;
  auto taken = http::bind_listener(loop, "127.0.0.1", 0, {});
  const std::string address = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
  set("e2b.listen", address);
  EXPECT_EQ(paths(), Paths{"/e2b/listen"});
  taken.close();
  EXPECT_EQ(paths(), Paths());
  set("listen", address);
  EXPECT_EQ(paths(), Paths{"/e2b/listen"});
}

TEST_F(StartChecks, WhatMcpAndImagesCannotMean) {
  set("mcp.profile", "No Profile");
  set("mcp.origins", "https://app.example.com, app.example.com");
  set("local.images", "images");
  EXPECT_EQ(paths(), (Paths{"/mcp/profile", "/mcp/origins", "/local/images"}));
  set("mcp.profile", "python@3");
  set("mcp.origins", "https://app.example.com, http://localhost:3000");
  set("local.images", directory.path() + "/images");
  EXPECT_EQ(paths(), Paths());
}

TEST(SettingsFlags, NameEveryMistakeAtOnce) {
  CLI::App app;
  const SettingsFlags flags(app);
  app.parse("--set noequals --set log.level=loud", false);
  try {
    flags.load();
    FAIL() << "took it";
  } catch (const Error& error) {
    std::set<std::string> named;
    for (const FieldProblem& field : error.fields) named.insert(field.path);
    EXPECT_EQ(named, (std::set<std::string>{"/noequals", "/log/level"}));
  }
}

}  // namespace
}  // namespace sandgate
