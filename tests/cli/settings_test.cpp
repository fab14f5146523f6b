#include "gateway/cli/options/settings.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <map>

#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

struct SettingsTest : testing::Test {
  SettingsTest() : directory(testing::TempDir() + "cli-settings-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(directory + "/sandgate");
    variables["XDG_CONFIG_HOME"] = directory;
  }
  ~SettingsTest() override { std::filesystem::remove_all(directory); }

  void write(const std::string& text) {
    std::ofstream(directory + "/sandgate/config.yaml") << text;
  }
  Settings load() {
    return load_settings([this](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    });
  }

  std::string directory;
  std::map<std::string, std::string> variables;
};

TEST_F(SettingsTest, NeedNoFile) {
  EXPECT_EQ(load().url, "http://127.0.0.1:8080");
  EXPECT_TRUE(load().api_key.empty());
}

TEST_F(SettingsTest, ComeFromTheFile) {
  write("url: https://gate.example.com/\napi_key: sg_1\n");
  EXPECT_EQ(load().url, "https://gate.example.com");
  EXPECT_EQ(load().api_key.reveal(), "sg_1");
}

TEST_F(SettingsTest, TheEnvironmentWins) {
  write("url: http://a\napi_key: sg_1\n");
  variables["SANDGATE_URL"] = "http://b";
  variables["SANDGATE_API_KEY"] = "sg_2";
  EXPECT_EQ(load().url, "http://b");
  EXPECT_EQ(load().api_key.reveal(), "sg_2");
}

// A carriage return at the end of a key, or a line break that would begin another header.
TEST_F(SettingsTest, ControlCharactersAreRefusedByTheNameOfTheVariable) {
  for (const char* name :
       {"SANDGATE_URL", "SANDGATE_API_KEY", "SANDGATE_ADMIN_KEY", "SANDGATE_TENANT"})
    for (const char* value : {"sg_1\r", "sg_1\nX-Other: 1"}) {
      variables[name] = value;
      try {
        load();
        ADD_FAILURE() << name;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find(std::string(name) + " has a control character"),
                  0u)
            << error.what();
      }
      variables.erase(name);
    }
  EXPECT_EQ(load().url, "http://127.0.0.1:8080");
}

TEST_F(SettingsTest, WhatHasNoValueIsNotSet) {
  write("url:\napi_key: sg_1\ntenant:\n");
  variables["SANDGATE_URL"] = "";
  EXPECT_EQ(load().url, "http://127.0.0.1:8080");
  EXPECT_EQ(load().api_key.reveal(), "sg_1");
  EXPECT_EQ(load().tenant, "");
}

TEST_F(SettingsTest, AFileInAnotherSyntaxIsAnError) {
  write("api_key=sg_1\n");
  EXPECT_THROW(load(), Error);
}

TEST_F(SettingsTest, AnUnknownKeyIsAnError) {
  write("api-key: sg_1\n");
  EXPECT_THROW(load(), Error);
}

TEST_F(SettingsTest, BrokenYamlIsAnError) {
  write("url: [\n");
  EXPECT_THROW(load(), Error);
}

}  // namespace
}  // namespace sandgate::cli
