#include <gtest/gtest.h>

#include <csignal>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// Some vendors have no list and start a sandbox for any id that they are asked about. One that was
// started while nobody got the answer, or that was not ended, is told of until it has ended: else
// it would run, and cost, as long as the vendor lets it.
namespace sandgate::test {
namespace {

class StartedByQuestions : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const VendorLine& line : vendor_lines())
      if (line.name == GetParam()) line_ = line;
    vendor_ = std::make_unique<Vendor>(line_, loop_.executor());
    CreateSpec spec{.sandbox_id = SandboxId::make().value};
    spec.network.fallback = NetworkDefault::allow;
    box_ = loop_.run(provider().create(std::move(spec))).backend_id;
    loop_.run(provider().kill(box_));
    EXPECT_EQ(listed(), 0U);
  }

  Provider& provider() { return vendor_->provider(); }
  size_t listed() { return loop_.run(provider().list()).size(); }
  size_t running() { return vendor_->server().state()["boxes"].size(); }
  template <class T>
  void fail(Task<T> task, const std::string& match, const char* kind) {
    vendor_->server().fault({{"match", match}, {"kind", kind}, {"status", 500}});
    const auto outcome = loop_.run(attempt(std::move(task)));
    ASSERT_TRUE(std::holds_alternative<Error>(outcome));
    EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::unavailable);
    vendor_->server().clear_faults();
  }
  Task<void> end_a_process() { return provider().signal(box_, ProcessId::make().value, SIGKILL); }
  void expect_to_be_told_of() {
    EXPECT_EQ(running(), 1U);
    EXPECT_EQ(listed(), 1U);
    loop_.run(provider().kill(box_));
    EXPECT_EQ(running(), 0U);
    EXPECT_EQ(listed(), 0U);
  }

  LiveLoop loop_;
  VendorLine line_;
  std::unique_ptr<Vendor> vendor_;
  std::string box_;
};

TEST_P(StartedByQuestions, WhatALostAnswerMayHaveStarted) {
  // It is not answered, and has run.
  const char* kind = GetParam() == "cloudflare" ? "lost_start" : "lost_reply";
  fail(end_a_process(), line_.exec, kind);
  expect_to_be_told_of();
  // Without a name, so that no line looks for it to end it.
  fail(provider().exec(box_, {.argv = {"true"}}), line_.exec, kind);
  expect_to_be_told_of();
}

TEST_P(StartedByQuestions, WhatCouldNotBeEnded) {
  fail(provider().find(box_), line_.kill, "status");
  expect_to_be_told_of();
}

TEST_P(StartedByQuestions, AnAnswerThatNothingIsThereLeavesNothing) {
  EXPECT_FALSE(loop_.run(provider().find(box_)));
  EXPECT_EQ(running(), 0U);
  EXPECT_EQ(listed(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Vendors, StartedByQuestions,
                         testing::Values("agentcore_runtime", "cloudflare"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace sandgate::test
