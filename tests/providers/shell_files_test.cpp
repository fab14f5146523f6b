#include "providers/shell/shell_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gateway/core/crypto.hpp"
#include "tests/providers/shell_output.hpp"
#include "tests/support/run.hpp"

namespace sandgate::shell {
namespace {

std::string printed(const std::string& line) { return test::shell_output(line).out; }

// The lines on this machine, with a home of their own.
class ShellFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    old_ = std::getenv("HOME") ? std::getenv("HOME") : "/";
    setenv("HOME", home_.path().c_str(), 1);
  }
  void TearDown() override { setenv("HOME", old_.c_str(), 1); }

  void file(const std::string& name, const std::string& text) {
    std::ofstream(home_.path() + "/" + name) << text;
  }
  std::vector<FileEntry> ran(const std::string& line) { return read_entries(printed(line)); }
  std::optional<ErrorCode> code(const std::string& line) {
    try {
      ran(line);
      return std::nullopt;
    } catch (const Error& error) {
      return error.code;
    }
  }

  test::TempDirectory home_;
  std::string old_;
};

TEST_F(ShellFilesTest, EntriesAreWhatIsThereWhateverTheirNames) {
  ran(make_directory_line("d/e"));
  const std::string odd = "d/a 'b'\n$(id)\\ *";
  file(odd, "12345");
  ASSERT_EQ(symlink("target\nof it", (home_.path() + "/d/link").c_str()), 0);
  const auto found = ran(stat_line("~/" + odd));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, home_.path() + "/" + odd);
  EXPECT_EQ(found[0].name, "a 'b'\n$(id)\\ *");
  EXPECT_EQ(found[0].type, FileType::file);
  EXPECT_EQ(found[0].size, 5u);
  const auto link = ran(stat_line(home_.path() + "//d/link/"));
  EXPECT_EQ(link.at(0).type, FileType::symlink);
  EXPECT_EQ(link.at(0).target, "target\nof it");
  EXPECT_EQ(ran(list_line("d", 1)).size(), 3u);
  EXPECT_EQ(ran(list_line("", 2)).size(), 4u);
  EXPECT_EQ(ran(list_line("d/e", 1)).size(), 0u);
}

TEST_F(ShellFilesTest, ChangesAreMade) {
  file("a", "1");
  EXPECT_EQ(ran(publish_line("a", "b", 0640)).at(0).mode, 0640u);
  EXPECT_EQ(ran(move_line("b", "new/c")).at(0).name, "c");
  ran(remove_line("new/c", false));
  ran(remove_line("new", false));
  EXPECT_EQ(code(stat_line("new")), ErrorCode::not_found);
}

TEST_F(ShellFilesTest, MistakesHaveTheirCodes) {
  file("file", "1");
  ran(make_directory_line("d/e"));
  EXPECT_EQ(code(stat_line("missing")), ErrorCode::not_found);
  EXPECT_EQ(code(list_line("missing", 1)), ErrorCode::not_found);
  EXPECT_EQ(code(list_line("file", 1)), ErrorCode::invalid);
  EXPECT_EQ(code(make_directory_line("file")), ErrorCode::invalid);
  EXPECT_EQ(code(move_line("missing", "x")), ErrorCode::not_found);
  EXPECT_EQ(code(move_line("file", "d")), ErrorCode::conflict);
  EXPECT_EQ(code(remove_line("missing", true)), ErrorCode::not_found);
  EXPECT_EQ(code(remove_line("d", false)), ErrorCode::conflict);
  EXPECT_EQ(code(publish_line("file", "d", 0644)), ErrorCode::invalid);
}

TEST_F(ShellFilesTest, TheRootAndTheHomeStay) {
  ran(make_directory_line("d"));
  for (const std::string home : {"", "~", "~/", "d/.."})
    EXPECT_EQ(code(remove_line(home, true)), ErrorCode::forbidden) << home;
  EXPECT_EQ(code(remove_line("/", false)), ErrorCode::forbidden);
  EXPECT_EQ(code(remove_line("d", true)), std::nullopt);
}

TEST_F(ShellFilesTest, TimesThatNobodyCouldWriteGiveWayToTheNearest) {
  const auto year_of = [](const std::string& seconds) {
    const std::string output = "81a4 0 " + seconds + "\n/f\n//\n//\n";
    return to_rfc3339(read_entries(base64_encode(output + "=0")).at(0).modified_at).substr(0, 4);
  };
  EXPECT_EQ(year_of("-99999999999"), "0001");
  EXPECT_EQ(year_of("9999999999999999"), "9999");
}

TEST_F(ShellFilesTest, OutputThatIsNoneOfOursIsRefused) {
  for (const std::string text : {"", "%%%", "aGk=", "=0", "x=0", "81a4 5 1\n/a=0"})
    EXPECT_THROW(read_entries(text), Error) << text;
  EXPECT_THROW(read_entries(base64_encode("81a4 5 1\n/a=0")), Error);
  EXPECT_EQ(read_entries(base64_encode("=0")).size(), 0u);
}

}  // namespace
}  // namespace sandgate::shell
