#include "registry/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sandgate {
namespace {

std::string message_of(const std::string& text) {
  try {
    yaml_to_json(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    return error.what();
  }
  return "";
}

TEST(Yaml, ReadsTheCoreSchema) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "null"},
      {"~", "null"},
      {"a:", R"({"a":null})"},
      {"[true, True, FALSE, yes, no, on]", R"([true,true,false,"yes","no","on"])"},
      {"[1, -2, +3, 0o17, 0x1F, 010, 0x-5]", "[1,-2,3,15,31,10,\"0x-5\"]"},
      {"[1.5, .5, 1e3, -2.5e-1, 1.]", "[1.5,0.5,1000.0,-0.25,1.0]"},
      {"['1', \"true\", !!str 7]", R"(["1","true","7"])"},
      {"{a: 0.20.1, b: 1_000, c: 12:30}", R"({"a":"0.20.1","b":"1_000","c":"12:30"})"},
      {"1: x\ntrue: y\nnull: z", R"({"1":"x","null":"z","true":"y"})"},
      {"a: |\n  two\n  lines\n", R"({"a":"two\nlines\n"})"},
      {"a: &x [1, 2]\nb: *x", R"({"a":[1,2],"b":[1,2]})"},
      {"- &k key\n- {*k : 1}", R"(["key",{"key":1}])"},
  };
  for (const auto& [text, json] : cases) EXPECT_EQ(yaml_to_json(text), Json::parse(json)) << text;
}

TEST(Yaml, RefusesWithLineAndColumn) {
  EXPECT_THAT(message_of("a: 1\nb: [1, 2"), testing::HasSubstr("line 2"));
  EXPECT_THAT(message_of("a: 1\na: 2"), testing::HasSubstr("line 2, column 1"));
  for (const char* text :
       {"a: 1\n--- \nb: 2", "? [1, 2]\n: x", "{{a: 1}: 2}", "!!binary aGk=", "!custom x", "a: .inf",
        "a: .nan", "a: *unknown", "a: &x [*x]", "a: 1e999", "a: 'open", "\ta: 1", "a: b: c"})
    EXPECT_NE(message_of(text), "") << text;
  EXPECT_NE(message_of("a: \xff"), "");
  EXPECT_NE(message_of(std::string("a: \0", 4)), "");
}

TEST(Yaml, BoundsNodes) {
  EXPECT_NO_THROW(yaml_to_json("{a: [1, 2]}", 5));
  EXPECT_THROW(yaml_to_json("{a: [1, 2]}", 4), Error);
}

TEST(Yaml, BoundsDepthAndAliases) {
  EXPECT_NE(message_of(std::string(100, '[') + std::string(100, ']')), "");
  EXPECT_NE(message_of(std::string(100'000, '[')), "");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int n = 0; n < 10; ++n) bomb += before + (n < 9 ? ", " : "]\n");
  }
  EXPECT_THAT(message_of(bomb), testing::HasSubstr("too large"));
  std::string texts = "a: &t " + std::string(100'000, 'x') + "\nb: [";
  for (int n = 0; n < 1000; ++n) texts += "*t, ";
  EXPECT_THAT(message_of(texts + "1]"), testing::HasSubstr("too large"));
}

}  // namespace
}  // namespace sandgate
