#include "providers/vendor_json.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(ParseAnswer, RefusesWhatIsNestedTooDeep) {
  EXPECT_TRUE(parse_answer(nested(64)).is_array());
  EXPECT_TRUE(parse_answer(nested(65)).is_discarded());
  EXPECT_TRUE(parse_answer(R"({"entry":)" + nested(1'000'000) + "}").is_discarded());
  EXPECT_TRUE(parse_answer(std::string(1'000'000, '[')).is_discarded());
}

std::string list_of(std::string_view item, int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text.append(item).append(",");
  return text + "0]";
}

TEST(ParseAnswer, RefusesWhatHoldsTooMuch) {
  EXPECT_EQ(parse_answer(list_of("1", 499'000)).size(), 499'001u);
  EXPECT_EQ(parse_answer(list_of("[]", 249'000)).size(), 249'001u);
  EXPECT_EQ(parse_answer("\"" + std::string(600'000, ',') + "\"").get<std::string>().size(),
            600'000u);
  EXPECT_TRUE(parse_answer(list_of("1", 501'000)).is_discarded());
  EXPECT_TRUE(parse_answer(list_of("{}", 251'000)).is_discarded());
}

// An upstream sends as many records as it likes, each of which may be some mebibytes long.
TEST(ParseRecord, RefusesWhatHoldsMoreThanAnyRecord) {
  EXPECT_EQ(parse_record(list_of("1", 32'000)).size(), 32'001u);
  EXPECT_EQ(parse_record("\"" + std::string(600'000, ',') + "\"").get<std::string>().size(),
            600'000u);
  EXPECT_TRUE(parse_record(list_of("1", 33'000)).is_discarded());
  EXPECT_TRUE(parse_record(list_of("[]", 17'000)).is_discarded());
  EXPECT_TRUE(parse_record(nested(65)).is_discarded());
}

TEST(ParseAnswer, CountsNoBracketsOfTextsAndNoSiblings) {
  const std::string brackets(100, '[');
  EXPECT_EQ(parse_answer(R"({"a":")" + brackets + R"("})")["a"], brackets);
  EXPECT_EQ(parse_answer(R"({"a":"\"\\)" + brackets + R"("})")["a"], "\"\\" + brackets);
  std::string list = "[";
  for (int i = 0; i < 100; ++i) list += "[],";
  EXPECT_EQ(parse_answer(list + "{}]").size(), 101u);
}

TEST(ParseAnswer, TellsTextThatIsNone) {
  for (const char* text : {"", "{x", "[1] [2]", "\"\\", "]"})
    EXPECT_TRUE(parse_answer(text).is_discarded()) << text;
}

TEST(VendorFields, OfAnotherTypeAreMissing) {
  const Json document{{"text", 7}, {"size", -3}, {"huge", 1e300}, {"time", "soon"}, {"code", "0"}};
  EXPECT_EQ(text_of(document, "text"), "");
  EXPECT_EQ(milli_of(document, "size"), 0);
  EXPECT_EQ(milli_of(document, "huge"), 0);
  EXPECT_FALSE(time_of(document, "time"));
  EXPECT_FALSE(time_of(document, "huge"));
  EXPECT_FALSE(exit_status_of(document, "code"));
  EXPECT_FALSE(exit_status_of(document, "huge"));
  EXPECT_TRUE(field_of(Json::array(), "text").is_null());
}

}  // namespace
}  // namespace sandgate
