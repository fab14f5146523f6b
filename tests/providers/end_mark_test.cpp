#include "providers/shell/end_mark.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

// All output, given in pieces of some size.
std::string output_of(EndMark& mark, const std::string& bytes, size_t piece) {
  std::string output;
  for (size_t at = 0; at < bytes.size(); at += piece) output += mark.add(bytes.substr(at, piece));
  return output;
}

TEST(EndMark, IsFoundWhereverItIsCut) {
  const std::string bytes = "a\x1e word \x1ewor\x1eword\x1eword:137;more";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    EndMark mark("word");
    EXPECT_EQ(output_of(mark, bytes, piece), "a\x1e word \x1ewor\x1eword") << piece;
    EXPECT_TRUE(mark.seen());
    EXPECT_EQ(mark.status(), 137);
  }
}

TEST(EndMark, HoldsBackNoMoreThanMayBeOne) {
  EndMark mark("word");
  EXPECT_EQ(mark.add("abc"), "abc");
  EXPECT_EQ(mark.add("d\x1ewo"), "d");
  EXPECT_EQ(mark.add("x"), "\x1ewox");
  EXPECT_EQ(mark.add("\x1eword:x;"), "\x1eword:x;");
  EXPECT_EQ(mark.add("\x1eword:12"), "");
  EXPECT_FALSE(mark.seen());
  EXPECT_EQ(mark.add("34567"), "\x1eword:1234567");
  EXPECT_FALSE(mark.seen());
  EXPECT_EQ(mark.add("\x1eword:0;"), "");
  EXPECT_TRUE(mark.seen());
}

TEST(EndMark, IsWrittenByAShell) {
  EXPECT_EQ(EndMark::line_of("word", false), "printf '\\036%s:%d;' word $s");
  EXPECT_EQ(EndMark::line_of("word", true),
            "printf '\\036%s:%d;' word $s; printf '\\036%s:%d;' word $s >&2");
}

}  // namespace
}  // namespace sandgate
