#include "gateway/core/bounded_json.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "gateway/core/json_text.hpp"

namespace sandgate {
namespace {

using namespace std::string_view_literals;

TEST(ParseJson, RefusesDepthDuplicatesAndBadText) {
  EXPECT_NO_THROW(parse_json(R"({"a":[1,{"b":null}]})"));
  EXPECT_THROW(parse_json(std::string(100, '[') + std::string(100, ']')), Error);
  EXPECT_THROW(parse_json(R"({"a":1,"a":2})"), Error);
  EXPECT_THROW(parse_json("{\"a\":\"\xff\"}"), Error);
  EXPECT_THROW(parse_json("{"), Error);
  EXPECT_THROW(parse_json(""), Error);
}

TEST(ParseJson, RefusesWhatFollowsANul) {
  for (const std::string_view text :
       {"{}\0"sv, "{}\0{{{"sv, "\0{}"sv, "{\"a\":\0 1}"sv, "{\"a\":\"\0\"}"sv, "{\"a\":1}\n\0\0"sv})
    EXPECT_THROW(parse_json(text), Error) << text;
  EXPECT_EQ(parse_json(R"({"a":"\u0000"})")["a"], "\0"sv);
}

TEST(ParseJson, TakesTheDepthOfItsContractAndNoMore) {
  EXPECT_NO_THROW(parse_json(std::string(64, '[') + "1" + std::string(64, ']')));
  EXPECT_THROW(parse_json(std::string(65, '[') + std::string(65, ']')), Error);
}

TEST(ParseJson, CountsEveryValue) {
  const std::string text = R"({"a":[1,{}],"b":null})";  // the object, a, 1, {} and b
  EXPECT_NO_THROW(parse_bounded_json(text, 5));
  EXPECT_THROW(parse_bounded_json(text, 4), Error);
  EXPECT_THROW(parse_bounded_json("1", 0), Error);
}

// A list that is 32 times as long takes 32 times as long, not 1024 times. The bound leaves room for
// memory, which is slower the more of it is used. The square takes 160 000 empty objects more than
// ten seconds.
TEST(ParseJson, TakesTimeThatGrowsWithTheText) {
  const auto time_of = [](size_t items, const std::string& item) {
    std::string text = "[" + item;
    for (size_t i = 1; i < items; ++i) text += "," + item;
    text += "]";
    auto best = std::numeric_limits<std::clock_t>::max();
    for (int round = 0; round < 3; ++round) {
      const std::clock_t start = std::clock();  // of the processor: others may run beside
      EXPECT_EQ(parse_json(text).size(), items);
      best = std::min(best, std::clock() - start);
    }
    return best;
  };
  for (const std::string item : {"{}", R"({"a":1})", "[]", R"([{"a":[{}]}])"})
    EXPECT_LT(time_of(160'000, item), 256 * time_of(5'000, item)) << item;
}

TEST(ParseJson, SaysWhereAndWhyButNotWhatItRead) {
  const auto reason = [](std::string_view text) -> std::string {
    try {
      parse_json(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_NE(reason(R"({"value":"CANARY)").find("line 1, column 17"), std::string::npos);
  EXPECT_NE(reason(R"({"value":"CANARY)").find("missing closing quote"), std::string::npos);
  for (const char* text :
       {R"({"value":"CANARY)", "{\"value\":\"CANARY\nmore\"}", R"({"value":"CANARY\u12"})",
        "{\"value\":\"CANARY\xff\"}", R"({"value":CANARY})", R"(["CANARY" "CANARY"])"})
    EXPECT_EQ(reason(text).find("CANARY"), std::string::npos) << reason(text);
  EXPECT_LT(reason(std::string(2000, '9')).size(), 100u);
}

TEST(ParseJson, NamesADuplicateByItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1,"a":2})", "/a"},
      {R"({"b":{},"env":{"A":"1","A":"2"}})", "/env/A"},
      {R"({"list":[1,[],{"x":1},{"name":1,"a/b":2,"a/b":3}]})", "/list/3/a~1b"},
      {R"([[{"k":{},"k":1}]])", "/0/0/k"},
      {R"({"a":{"b":1},"c":[{"d":1}],"a":2})", "/a"}};
  for (const auto& [text, path] : cases) try {
      parse_json(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      ASSERT_EQ(error.fields.size(), 1u) << text;
      EXPECT_EQ(error.fields[0].path, path) << text;
    }
}

TEST(ObjectReader, ANullMemberOfAMapIsAbsent) {
  const Json document = parse_json(R"({"env":{"A":null,"B":"1"}})");
  Problems problems;
  ObjectReader reader(document, problems);
  EXPECT_EQ(reader.text_map("env", 10), (std::map<std::string, std::string>{{"B", "1"}}));
  EXPECT_TRUE(problems.empty());
}

TEST(ObjectReader, RefusesANulInAName) {
  const Json document = parse_json(R"({"env":{"a\u0000":"1","b\u0000c":null,"d":"2"}})");
  Problems problems;
  ObjectReader reader(document, problems);
  EXPECT_EQ(reader.text_map("env", 10), (std::map<std::string, std::string>{{"d", "2"}}));
  ASSERT_EQ(problems.fields().size(), 2u);
  EXPECT_EQ(problems.fields()[0].path, "/env/a\0"sv);
  EXPECT_EQ(problems.fields()[1].path, "/env/b\0c"sv);
}

// An exception's text ends at a NUL, whatever follows.
TEST(Problems, TellTheWholePathOfANameWithANul) {
  const std::string path("/a\0b", 4);
  Problems problems;
  problems.add(path, "is odd");
  try {
    problems.throw_if_any();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), R"(/a\u0000b: is odd)");
    EXPECT_EQ(error.fields[0].path, path);
  }
  EXPECT_STREQ(Error::invalid(path, "is odd").what(), R"(/a\u0000b: is odd)");
}

TEST(ObjectReader, AGivenNameHasNoControlCharacters) {
  const auto complaint = [](const std::string& name) -> std::string {
    const Json document{{"name", name}};
    Problems problems;
    ObjectReader reader(document, problems);
    const auto read = reader.text("name", kGivenName);
    EXPECT_EQ(read.has_value(), problems.empty());
    return problems.empty() ? "" : problems.fields()[0].path + " " + problems.fields()[0].message;
  };
  for (const std::string name : {"\nroot", "red\x1b[31m", "a\x7f", "\xc2\x85", "end\xc2\x9f", "\t"})
    EXPECT_EQ(complaint(name), "/name must have 1 to 128 bytes and no control characters") << name;
  EXPECT_NE(complaint(std::string("a\0b", 3)), "");
  for (const std::string name :
       {"demo", "a b", "\xc2\xa0", "caf\xc3\xa9", "\xe2\x82\xac", "\xc4\x80"})
    EXPECT_EQ(complaint(name), "") << name;
}

TEST(ObjectReader, GathersEveryProblemWithItsPath) {
  const Json document = parse_json(R"({"name":7,"size":99,"vcpu":0.3,"list":["a",1],"odd/key":1})");
  Problems problems;
  ObjectReader reader(document, problems, "/body");
  EXPECT_FALSE(reader.text("name"));
  EXPECT_FALSE(reader.integer("size", 1, 10));
  EXPECT_FALSE(reader.quarter_steps("vcpu", 250, 4000));
  EXPECT_EQ(reader.texts("list", 10)->size(), 1u);
  reader.require("missing");
  reader.finish();
  std::vector<std::string> paths;
  for (const auto& field : problems.fields()) paths.push_back(field.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/body/name", "/body/size", "/body/vcpu",
                                             "/body/list/1", "/body/missing", "/body/odd~1key"}));
  EXPECT_THROW(problems.throw_if_any(), Error);
}

TEST(ObjectReader, ReadsWhatIsThere) {
  const Json document =
      parse_json(R"({"vcpu":1.75,"word":"kill","on":true,"env":{"A":"1"},"none":null})");
  Problems problems;
  ObjectReader reader(document, problems);
  EXPECT_EQ(reader.quarter_steps("vcpu", 250, 4000), 1750);
  EXPECT_EQ(reader.word("word", {"kill", "pause"}), "kill");
  EXPECT_EQ(reader.boolean("on"), true);
  EXPECT_EQ(reader.text_map("env", 10)->at("A"), "1");
  EXPECT_FALSE(reader.has("none"));
  reader.finish();
  EXPECT_TRUE(problems.empty());
}

// JSON has one kind of number: writers of many languages put a point into whole ones.
TEST(ObjectReader, TakesIntegersHoweverTheyAreWritten) {
  for (const char* text : {"60", "60.0", "6e1", "6.0E+1"}) {
    const Json document = parse_json(std::string(R"({"n":)") + text + "}");
    Problems problems;
    EXPECT_EQ(ObjectReader(document, problems).integer("n", 0, 100), 60) << text;
  }
}

TEST(ObjectReader, RefusesIntegersBeyondTheirRange) {
  for (const char* text :
       {"18446744073709551615", "-9223372036854775808", "1.5", "1e3", "1e300", "\"1\"", "true"}) {
    const Json document = parse_json(std::string(R"({"n":)") + text + "}");
    Problems problems;
    EXPECT_FALSE(ObjectReader(document, problems).integer("n", 0, 100)) << text;
    EXPECT_FALSE(problems.empty()) << text;
  }
}

TEST(Json, ForeignTextIsWrittenWhateverItsBytes) {
  EXPECT_EQ(json_text(Json{{"a", "x\xFF"}}), "{\"a\":\"x\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace sandgate
