#include "gateway/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include <yaml-cpp/yaml.h>

#include "gateway/config/options.hpp"
#include "gateway/config/reload.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

ConfigSources with_file(const test::TempDirectory& directory, const std::string& text) {
  const std::string path = directory.path() + "/sandgate.yaml";
  std::ofstream(path) << text;
  return {.file = path, .environment = {}, .flags = {}};
}

std::set<std::string> problem_paths(const ConfigSources& sources) {
  std::set<std::string> paths;
  try {
    load_config(sources);
  } catch (const Error& error) {
    for (const auto& field : error.fields) paths.insert(field.path);
  }
  return paths;
}

TEST(Config, HasWorkingDefaults) {
  const Config config = load_config({});
  EXPECT_EQ(config.listen_port, 8080);
  EXPECT_TRUE(config.database_url().starts_with("host="));
}

TEST(Config, LaterSourcesWin) {
  const test::TempDirectory directory;
  auto sources = with_file(directory, "log: {level: debug, format: json}\nlisten: 1.2.3.4:1\n");
  sources.environment = {
      {"SANDGATE_LOG_LEVEL", "error"}, {"SANDGATE_LISTEN", "[::1]:9"}, {"HOME", "/x"}};
  sources.flags = {{"listen", "127.0.0.1:7"}};
  const Config config = load_config(sources);
  EXPECT_EQ(config.log.level, "error");
  EXPECT_EQ(config.log.format, "json");
  EXPECT_EQ(config.listen_port, 7);
}

TEST(Config, ReportsEverythingWrongAtOnce) {
  const test::TempDirectory directory;
  auto sources = with_file(directory,
                           "log: {level: loud}\nlimits: {connections: -1}\nnonsense: 1\n"
                           "tls: {certificate: /a}\nlocal: {enabled: maybe}\nlisten: nowhere\n");
  EXPECT_EQ(problem_paths(sources),
            (std::set<std::string>{"/log/level", "/limits/connections", "/nonsense", "/tls",
                                   "/local/enabled", "/listen"}));
}

TEST(Config, RefusesFilesThatAreNotAMapOfValues) {
  const test::TempDirectory directory;
  for (const char* text : {"- a\n", "a: [1\n", "log: {level: [debug]}\n"})
    EXPECT_THROW(load_config(with_file(directory, text)), Error) << text;
  EXPECT_THROW(load_config({.file = directory.path() + "/missing", .environment = {}, .flags = {}}),
               Error);
  const std::string loop = directory.path() + "/loop";
  std::filesystem::create_symlink(loop, loop);
  EXPECT_THROW(load_config({.file = loop, .environment = {}, .flags = {}}), Error);
}

TEST(Config, WarnsOfVariablesThatLookLikeSettings) {
  const Config config =
      load_config({.file = "",
                   .environment = {{"SANDGATE_PORT_8080_TCP", "tcp://10.0.0.1:8080"},
                                   {"SANDGATE_URL", "x"},
                                   {"SANDGATE_TENANT", "x"}},
                   .flags = {}});
  ASSERT_EQ(config.warnings.size(), 1u);
  EXPECT_NE(config.warnings[0].find("SANDGATE_PORT_8080_TCP"), std::string::npos);
}

TEST(Config, RefusesVariablesThatCanOnlyBeSettingsMisspelt) {
  for (const char* name : {"SANDGATE_DATABASE_URLL", "SANDGATE_LOG_LEVLE", "SANDGATE_LISTENN"})
    try {
      load_config({.file = "", .environment = {{name, "x"}}, .flags = {}});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
}

TEST(Config, RefusesASettingGivenTwice) {
  const test::TempDirectory directory;
  EXPECT_EQ(problem_paths(with_file(directory, "log: {level: info, level: debug}\nlog: {}\n")),
            (std::set<std::string>{"/log", "/log/level"}));
}

TEST(Config, RefusesUnknownSettingsWithoutAValue) {
  const test::TempDirectory directory;
  EXPECT_EQ(problem_paths(with_file(directory, "nonsense:\nlog: {levle: }\nfoo: {}\n")),
            (std::set<std::string>{"/nonsense", "/log/levle", "/foo"}));
  EXPECT_EQ(problem_paths(with_file(directory, "listen:\nlocal: {egress: }\nlog: {}\n")),
            std::set<std::string>());
}

TEST(Config, SaysThatAGroupHasSettingsBelowIt) {
  const test::TempDirectory directory;
  for (const char* text : {"limits: 5\n", "limits: [5]\n", "local: {egress: all}\n"}) {
    try {
      load_config(with_file(directory, text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      ASSERT_EQ(error.fields.size(), 1u) << text;
      EXPECT_TRUE(error.fields[0].message.starts_with("has settings below it: give these"))
          << text << error.fields[0].message;
    }
  }
}

// Nothing in the second one would count.
TEST(Config, RefusesASecondDocument) {
  const test::TempDirectory directory;
  for (const char* text : {"", "---\n", "# nothing\n", "---\nlog: {level: debug}\n"})
    EXPECT_NO_THROW(load_config(with_file(directory, text))) << text;
  EXPECT_THROW(load_config(with_file(directory, "log: {level: debug}\n---\nlisten: 127.0.0.1:1\n")),
               Error);
}

TEST(Config, RefusesDomainsThatNoHostCanBeBelow) {
  const auto refused = [](const std::string& value) {
    return !problem_paths({.file = "", .environment = {}, .flags = {{"ports.domain", value}}})
                .empty();
  };
  for (const char* domain :
       {":80", ".a.b", "a.b.", "a..b", "a.b:", "a.b:0", "a.b:65536", "a.b:80x", "https://a.b"})
    EXPECT_TRUE(refused(domain)) << domain;
  for (const char* domain : {"", "a.b", "localhost:8080", "Sandboxes.Example.com:65535"})
    EXPECT_FALSE(refused(domain)) << domain;
}

TEST(Config, SaysWhyAFileCannotBeRead) {
  const test::TempDirectory directory;
  const std::string missing = directory.path() + "/missing.yaml";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {directory.path(), directory.path() + " is a directory"},
      {missing, "cannot read " + missing + ": No such file or directory"},
  };
  for (const auto& [file, reason] : cases) {
    try {
      load_config({.file = file, .environment = {}, .flags = {}});
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
}

TEST(Config, RefusesNamesThatAreNoneAndDatabasesThatCannotBeMeant) {
  const auto refused = [](const char* path, const std::string& value) {
    return !problem_paths({.file = "", .environment = {}, .flags = {{path, value}}}).empty();
  };
  for (const std::string name : {"UPPER", "a b", "", "../x", "\u00f6", "a_b"})
    EXPECT_TRUE(refused("local.name", name)) << name;
  EXPECT_TRUE(refused("local.name", std::string(300, 'a')));
  EXPECT_FALSE(refused("local.name", "node-1"));
  for (const char* url : {"mysql://foo", "hello world", "host=x nonsense=1"})
    EXPECT_TRUE(refused("database.url", url)) << url;
  for (const char* url : {"postgresql://u@h:5433/db?sslmode=require", "host=/run dbname=x"})
    EXPECT_FALSE(refused("database.url", url)) << url;
}

TEST(Config, AHomeMayHaveSpaces) {
  const Config config = load_config({.file = "", .environment = {}, .flags = {{"home", "/a b'c"}}});
  EXPECT_EQ(config.database_url(), "host='/a b\\'c/postgres' user=sandgate dbname=sandgate");
}

// Not in /tmp, where it would be lost with the next start of the machine.
TEST(Config, AnAccountWithoutAHomeNamesADirectory) {
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  EXPECT_THROW(load_config({}), Error);
  EXPECT_EQ(load_config({.file = "", .environment = {}, .flags = {{"home", "/data"}}}).home,
            "/data");
  EXPECT_EQ(load_config({.file = "", .environment = {{"HOME", "/x"}}, .flags = {}}).home,
            "/x/.local/share/sandgate");
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

TEST(Config, SurvivesTheWayToAChildProcess) {
  const Config config =
      load_config({.file = "",
                   .environment = {},
                   .flags = {{"admin_key", std::string(40, 'a')}, {"database.connections", "3"}}});
  const Config copy = config_from_json(to_json(config));
  EXPECT_EQ(copy.admin_key.reveal(), std::string(40, 'a'));
  EXPECT_EQ(copy.database.connections, 3);
  EXPECT_EQ(to_json(copy), to_json(config));
}

TEST(Reload, TakesLimitsAndNamesWhatWaitsForAStart) {
  const Config running = load_config({});
  const Config fresh = load_config({.file = "",
                                    .environment = {},
                                    .flags = {{"limits.connections", "7"},
                                              {"limits.body_bytes", "2048"},
                                              {"log.level", "debug"},
                                              {"listen", "127.0.0.1:1"},
                                              {"database.connections", "3"}}});
  const ReloadedConfig result = reloaded(running, fresh);
  EXPECT_EQ(result.config.limits.connections, 7);
  EXPECT_EQ(result.config.limits.body_bytes, 2048);
  EXPECT_EQ(result.config.log.level, "debug");
  EXPECT_EQ(result.config.listen_port, running.listen_port);
  EXPECT_EQ(result.config.database.connections, running.database.connections);
  EXPECT_THAT(result.changed, testing::UnorderedElementsAre("limits.connections",
                                                            "limits.body_bytes", "log.level"));
  EXPECT_THAT(result.waiting, testing::UnorderedElementsAre("listen", "database.connections"));
  const ReloadedConfig again = reloaded(result.config, fresh);
  EXPECT_TRUE(again.changed.empty());
  EXPECT_EQ(again.waiting.size(), 2u);
}

TEST(Reload, WaitsForNobodyToWriteTheSettings) {
  const test::TempDirectory directory;
  auto sources = with_file(directory, "log: {level: debug}\n");
  sources.again = true;
  EXPECT_EQ(load_config(sources).log.level, "debug");
  std::filesystem::remove(sources.file);
  EXPECT_EQ(problem_paths(sources), std::set<std::string>{""});
  ASSERT_EQ(mkfifo(sources.file.c_str(), 0600), 0);
  EXPECT_EQ(problem_paths(sources), std::set<std::string>{""});
}

// The paths of a YAML document's leaves.
void leaves(const YAML::Node& node, const std::string& path, std::set<std::string>& found) {
  if (!node.IsMap()) {
    found.insert(path);
    return;
  }
  for (const auto& member : node)
    leaves(
        member.second,
        path.empty() ? member.first.as<std::string>() : path + "." + member.first.as<std::string>(),
        found);
}

TEST(ExampleFile, LoadsHasEverySettingAndOnlyDefaults) {
  const std::string path = std::string(SANDGATE_SOURCE_DIR) + "/docs/sandgate.example.yaml";
  const Config config = load_config({.file = path, .environment = {}, .flags = {}});
  std::set<std::string> documented, known;
  leaves(YAML::LoadFile(path), "", documented);
  for (const Option& option : options()) known.insert(option.path);
  EXPECT_EQ(documented, known);
  Json defaults = to_json(load_config({})), example = to_json(config);
  defaults.erase("home");
  example.erase("home");
  EXPECT_EQ(example, defaults);
}

}  // namespace
}  // namespace sandgate
