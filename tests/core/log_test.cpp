#include "gateway/core/log.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override { log::configure(before_); }

 private:
  const nlohmann::json before_ = log::settings();
};

std::string output_of(void (*what)()) {
  testing::internal::CaptureStderr();
  what();
  return testing::internal::GetCapturedStderr();
}

TEST_F(Log, AChildWritesLikeItsParent) {
  log::configure(log::Format::json, "warning");
  const nlohmann::json told = log::settings();
  log::configure(log::Format::text, "info");
  log::configure(told);
  EXPECT_EQ(log::settings(), told);
  EXPECT_EQ(output_of([] { log::info("not this"); }), "");
  const auto line = nlohmann::json::parse(output_of([] { log::warn("this", {{"a", 1}}); }));
  EXPECT_EQ(line["event"], "this");
  EXPECT_EQ(line["a"], 1);
}

TEST_F(Log, TextIsOneLineForAPerson) {
  log::configure(log::Format::text, "error");
  EXPECT_TRUE(output_of([] {
                log::error("event", {{"a", "b c"}});
              }).ends_with(" event a=\"b c\"\n"));
}

}  // namespace
}  // namespace sandgate
