#include "gateway/core/words.hpp"

#include <gtest/gtest.h>

#include "gateway/core/json_reader.hpp"

namespace sandgate {
namespace {

enum class Fruit { apple, pear, plum };
// A value that an enumeration got after its table was written has no word.
constexpr Words kFruits({Word{Fruit::apple, "apple"}, Word{Fruit::pear, "pear"}});

TEST(Words, AreReadAndWrittenByOneTable) {
  EXPECT_EQ(kFruits.of(Fruit::pear), "pear");
  EXPECT_EQ(kFruits.find("pear"), Fruit::pear);
  EXPECT_EQ(kFruits.of(Fruit::plum), "");
  for (const char* none : {"plum", "", "Pear", "pear "}) EXPECT_FALSE(kFruits.find(none)) << none;
}

TEST(Words, AreReadFromDocuments) {
  const Json document = parse_json(R"({"own":"pear","none":null,"other":"plum","number":1})");
  Problems problems;
  ObjectReader reader(document, problems);
  EXPECT_EQ(reader.word("own", kFruits), Fruit::pear);
  EXPECT_FALSE(reader.word("none", kFruits));
  EXPECT_FALSE(reader.word("absent", kFruits));
  EXPECT_TRUE(problems.empty());
  EXPECT_FALSE(reader.word("other", kFruits));
  EXPECT_FALSE(reader.word("number", kFruits));
  ASSERT_EQ(problems.fields().size(), 2u);
  EXPECT_EQ(problems.fields()[0].path, "/other");
  EXPECT_EQ(problems.fields()[0].message, "must be one of: apple, pear");
}

}  // namespace
}  // namespace sandgate
