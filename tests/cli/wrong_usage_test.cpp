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

TEST(WrongUsage, SaysWhereANumberBelongs) {
  EXPECT_EQ(
      complaint({"create", "--ttl", "10m"}),
      "sandgate: --ttl: must be a number, not '10m'\nRun with --help for more information.\n");
  EXPECT_EQ(complaint({"extend", "sb1", "1 = 2"}),
            "sandgate: SECONDS: must be a number, not '1 = 2'\n"
            "Run with --help for more information.\n");
}

// Octal numbers, and the largest one of a type.
TEST(WrongUsage, ANumberIsNotTakenForAnother) {
  for (const std::vector<const char*>& arguments : std::vector<std::vector<const char*>>{
           {"create", "--ttl", "0600"},
           {"create", "--vcpu", "0x1"},
           {"extend", "sb1", "0700"},
           {"budgets", "set", "tn1", "b", "--amount", "1", "--alert-at", "50,080"},
           {"fork", "sb1", "-n", "010"}})
    EXPECT_NE(complaint(arguments).find("must be a number without a leading 0, not '"),
              std::string::npos);
  EXPECT_EQ(complaint({"audit", "--limit", "-1"}),
            "sandgate: --limit: must be 0 or more, not '-1'\nRun with --help for more "
            "information.\n");
  testing::internal::CaptureStderr();
  for (const char* vcpu : {"0", "0.25", "10"})
    EXPECT_EQ(tell(kNobody, {"create", "--vcpu", vcpu}).exit_code, 1) << "nobody answers";
  EXPECT_EQ(tell(kNobody, {"extend", "sb1", "-1"}).exit_code, 1) << "the gateway refuses it";
  testing::internal::GetCapturedStderr();
}

TEST(WrongUsage, SaysWhatOpensATerminal) {
  for (const char* option : {"-it", "-t", "--tty"})
    EXPECT_NE(complaint({"exec", option, "sb1", "bash"}).find("'sandgate shell' opens a terminal"),
              std::string::npos);
  EXPECT_EQ(complaint({"list", "-t"}).find("shell"), std::string::npos);
}

TEST(WrongUsage, ADocumentThatCannotBeReadSaysWhy) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell(kNobody, {"profiles", "apply", "-f", "/tmp"}).exit_code, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sandgate: /tmp is a directory: name a file\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell(kNobody, {"profiles", "apply", "-f", "/tmp/nobody's.yaml"}).exit_code, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sandgate: cannot read /tmp/nobody's.yaml: No such file or directory\n");
}

TEST(WrongUsage, ACopyNamesTheIdThatIsNone) {
  EXPECT_NE(complaint({"cp", "a", "sb1:b"}).find("cp: 'sb1' is no sandbox's id"),
            std::string::npos);
  EXPECT_NE(complaint({"cp", "sb.txt", "b"}).find("one of the two must be in a sandbox"),
            std::string::npos);
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
