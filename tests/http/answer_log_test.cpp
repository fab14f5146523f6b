#include "gateway/http/answer_log.hpp"

#include <gtest/gtest.h>

namespace sandgate::http {
namespace {

size_t lines_of(const Caller& caller, int answers, TenantLogLimiter& pace) {
  Request request;
  request.received = std::chrono::steady_clock::now();
  request.caller = caller;
  Response failed;
  failed.status = 503;
  testing::internal::CaptureStderr();
  for (int i = 0; i < answers; ++i) log_answer(request, failed, false, pace);
  const std::string text = testing::internal::GetCapturedStderr();
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(AnswerLog, NobodyLeavesOutALineOfAnother) {
  TenantLogLimiter pace(2);
  EXPECT_EQ(lines_of({}, 5, pace), 2u);
  EXPECT_EQ(lines_of({.role = Role::operator_}, 1, pace), 1u);
  EXPECT_EQ(lines_of({.tenant = TenantId{"tna"}}, 5, pace), 2u);
  EXPECT_EQ(lines_of({.tenant = TenantId{"tnb"}}, 1, pace), 1u);
}

}  // namespace
}  // namespace sandgate::http
