#include <gtest/gtest.h>

#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

constexpr const char* kNobody = "http://127.0.0.1:1";

// What is written to the error stream of a command line that is wrong.
std::string complaint(std::vector<const char*> arguments) {
  testing::internal::CaptureStderr();
  const Told told = tell(kNobody, std::move(arguments));
  EXPECT_EQ(told.exit_code, 2);
  EXPECT_EQ(told.output, "");
  return testing::internal::GetCapturedStderr();
}

TEST(WrongUsage, IsJsonWhereThatIsAskedFor) {
  const auto problem = [](std::vector<const char*> arguments) {
    return Json::parse(complaint(std::move(arguments)));
  };
  const Json unknown{{"code", "invalid"},
                     {"detail", "'--bogus' is no command or option of 'sandgate show'"}};
  EXPECT_EQ(problem({"show", "--json", "--bogus"}), unknown);
  EXPECT_EQ(problem({"show", "--bogus", "--json"}), unknown);
  EXPECT_EQ(problem({"show", "--json"})["detail"], "ID is required");
  EXPECT_EQ(problem({"kill", "--json"})["detail"], "kill: which? Give ids, or --all");
  EXPECT_EQ(problem({"frobnicate", "--json"})["code"], "invalid");
}

TEST(WrongUsage, IsALineElseAlsoForAProgramWithSuchAnOption) {
  const std::string told = complaint({"exec", "--bogus", "sb1", "--", "ls", "--json"});
  EXPECT_EQ(told.find("sandgate: '--bogus' is no command or option of 'sandgate exec'"), 0u)
      << told;
}

TEST(WrongUsage, AnInvoiceNeedsItsTime) {
  for (const auto& words :
       std::vector<std::vector<const char*>>{{}, {"--from", "2026-10-01T00:00:00Z"}}) {
    std::vector<const char*> arguments{"invoices", "create", "tn1"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    EXPECT_EQ(
        complaint(std::move(arguments)),
        "sandgate: create: of which time? Give --period, such as 2026-10, or --from and --to\n"
        "Run with --help for more information.\n");
  }
}

}  // namespace
}  // namespace sandgate::cli
