#include "gateway/cli/terminal/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sandgate::cli {
namespace {

std::string printed(const Table& table, bool terminal, bool coloured = true) {
  std::ostringstream out, err;
  table.print(Console(out, err, terminal, terminal, coloured), "nothing");
  return out.str();
}

TEST(Table, AlignsColumnsOnATerminal) {
  Table table({"NAME", ">N"});
  table.add({"ünï", "7"});
  table.add({"longer", "123"});
  EXPECT_EQ(printed(table, true),
            "\x1b[1mNAME      N\x1b[0m\n"
            "ünï       7\n"
            "longer  123\n");
}

TEST(Table, AlignsWithoutColoursToo) {
  Table table({"NAME", ">N"});
  table.add({"longer", "123"});
  EXPECT_EQ(printed(table, true, false), "NAME      N\nlonger  123\n");
}

TEST(Table, IsTabsInAPipe) {
  Table table({"NAME", ">N"});
  table.add({"a b", "7"});
  EXPECT_EQ(printed(table, false), "a b\t7\n");
}

TEST(Table, SaysWhenThereIsNothing) {
  const Table table({"NAME"});
  EXPECT_EQ(printed(table, true), "nothing\n");
  EXPECT_EQ(printed(table, false), "");
}

TEST(Table, LetsNoCellDriveTheTerminal) {
  Table table({"NAME"});
  table.add({"a\x1b[31m\tb\nc"});
  table.add({"\xC2\x9B;\xC2\xA0\xC2\x7F\xC2"});  // U+009B, which is ESC [ in one
  EXPECT_EQ(printed(table, false), "a [31m b c\n ;\xC2\xA0\xC2 \xC2\n");
}

TEST(Table, LetsNoCellTurnRoundWhatComesAfterIt) {
  Table table({"PROGRAM", "STATE"});
  // Overrides, isolates and line separators; the marks U+200E and U+2069's neighbour are text.
  table.add({"a\u202Eb\u2066c\u2069d\u2028e\u202A", "running"});
  table.add({"\u2027\u202F\u2065\u206A\u200E\xE2\x80", "ended"});
  EXPECT_EQ(printed(table, false),
            "a b c d e \trunning\n\u2027\u202F\u2065\u206A\u200E\xE2\x80\tended\n");
}

}  // namespace
}  // namespace sandgate::cli
