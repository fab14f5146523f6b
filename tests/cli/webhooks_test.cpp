#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

// What `webhooks set` writes to the error stream when the gateway finds fault with this member.
std::string complaint_about(const std::string& pointer, int exit_code) {
  ScriptedServer server([&](const auto&) {
    const Json fields = Json::array({{{"path", pointer}, {"message", "is wrong"}}});
    return ScriptedServer::json(
        400, Json{{"code", "invalid"}, {"request_id", "rq1"}, {"fields", fields}}.dump());
  });
  testing::internal::CaptureStderr();
  const Told told = tell(server.url(), {"webhooks", "set", "ci", "https://example.com/hook"});
  EXPECT_EQ(told.exit_code, exit_code);
  return testing::internal::GetCapturedStderr();
}

TEST(Webhooks, ANewOneNeedsASecretFromTheEnvironment) {
  const std::string told = complaint_about("/secret", 2);
  EXPECT_NE(told.find("--secret-env: is required for a new webhook"), std::string::npos) << told;
  EXPECT_NE(told.find("openssl rand -hex 32"), std::string::npos) << told;
}

TEST(Webhooks, OtherFaultsAreToldAsTheyAre) {
  EXPECT_EQ(complaint_about("/url", 1), "sandgate: /url is wrong (invalid, request rq1)\n");
}

}  // namespace
}  // namespace sandgate::cli
