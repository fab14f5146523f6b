#include "gateway/cli/terminal/progress.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sandgate::cli {
namespace {

using namespace std::chrono_literals;

struct ProgressTest : testing::Test {
  std::ostringstream out, err;
  Console console{out, err, true, true};
  Progress::Clock::time_point start = Progress::Clock::now();
};

TEST_F(ProgressTest, SaysNothingInTheFirstSecond) {
  { Progress(console, "file", 100, start).update(50, start + 900ms); }
  EXPECT_EQ(err.str(), "");
}

TEST_F(ProgressTest, ShowsABarAndWipesIt) {
  {
    Progress progress(console, "file", 2048, start);
    progress.update(1024, start + 2s);
  }
  EXPECT_NE(err.str().find("[###############...............]  1.0 KiB of 2.0 KiB  512 B/s"),
            std::string::npos);
  EXPECT_TRUE(err.str().ends_with("\r\x1b[K"));
}

TEST_F(ProgressTest, SaysNothingOffATerminal) {
  const Console pipe(out, err, false, false);
  { Progress(pipe, "file", 100, start).update(50, start + 5s); }
  EXPECT_EQ(err.str(), "");
}

TEST_F(ProgressTest, IsNotRedrawnForEveryPiece) {
  Progress progress(console, "file", std::nullopt, start);
  progress.update(1, start + 2s);
  const size_t once = err.str().size();
  progress.update(2, start + 2010ms);
  EXPECT_EQ(err.str().size(), once);
}

TEST(SizeText, HasOneDecimalAboveBytes) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(5 << 20), "5.0 MiB");
}

}  // namespace
}  // namespace sandgate::cli
