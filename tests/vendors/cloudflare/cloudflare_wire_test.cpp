#include "providers/cloudflare/cloudflare_wire.hpp"

#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"

namespace sandgate::cloudflare {
namespace {

TEST(CloudflareWire, OurIdIsInTheVendors) {
  EXPECT_EQ(to_backend_id("sb"), "onra");
  const std::string ours = SandboxId::make().value;
  const std::string theirs = to_backend_id(ours);
  EXPECT_EQ(theirs.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567"), std::string::npos);
  EXPECT_LE(theirs.size(), 128u);
  EXPECT_EQ(to_sandbox_id(theirs), ours);
  EXPECT_FALSE(to_sandbox_id(""));
  EXPECT_FALSE(to_sandbox_id("ONRA"));
  EXPECT_FALSE(to_sandbox_id("onr"));
  EXPECT_FALSE(to_sandbox_id("onrb"));
}

TEST(CloudflareWire, ABirthIsReadByAShell) {
  const CreateSpec spec{.env = {{"A", "it's"}, {"B", "1\n2"}}};
  EXPECT_EQ(to_init_script(spec), "export A='it'\\''s'\nexport B='1\n2'\ntrue\n");
}

TEST(CloudflareWire, ALineEndsWhereThereIsNoSandbox) {
  const std::string line = guarded("echo hi");
  EXPECT_NE(line.find("|| exit 97; "), std::string::npos);
  EXPECT_TRUE(line.ends_with("cd; echo hi"));
  const Json body = to_exec("echo hi", std::chrono::seconds(2));
  EXPECT_EQ(body["argv"], (Json::array({"/bin/sh", "-c", line})));
  EXPECT_EQ(body["timeout_ms"], 2000);
  EXPECT_FALSE(to_exec("echo hi").contains("timeout_ms"));
}

TEST(CloudflareWire, EventsAreOutputOrTheEnd) {
  const ExecEvent output = to_event({.name = "stderr", .data = "aGk="});
  EXPECT_EQ(output.channel, Channel::stderr_);
  EXPECT_EQ(output.bytes, "hi");
  EXPECT_FALSE(output.status);
  EXPECT_EQ(to_event({.name = "exit", .data = R"({"exit_code":3})"}).status, 3);
}

TEST(CloudflareWire, HostileAnswersAreErrors) {
  EXPECT_THROW(to_event({.name = "stdout", .data = "%"}), Error);
  EXPECT_THROW(to_event({.name = "exit", .data = "{x"}), Error);
  EXPECT_THROW(to_event({.name = "exit", .data = R"({"exit_code":"0"})"}), Error);
  EXPECT_THROW(to_event({.name = "error", .data = R"({"code":"exec_error"})"}), Error);
  EXPECT_THROW(to_event({.data = "aGk="}), Error);
}

TEST(CloudflareWire, TakenContainersAreNoCapacity) {
  const auto code_of = [](const std::string& body) {
    return read_error("cloudflare", {.status = 503, .body = body}).code;
  };
  EXPECT_EQ(code_of(R"({"error":"m","code":"capacity_exceeded"})"), ErrorCode::no_capacity);
  EXPECT_EQ(code_of(R"({"error":"m","code":"pool_error"})"), ErrorCode::unavailable);
  EXPECT_EQ(code_of("<html>"), ErrorCode::unavailable);
}

}  // namespace
}  // namespace sandgate::cloudflare
