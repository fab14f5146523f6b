#include <gtest/gtest.h>

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "providers/agentcore/agentcore_runtime_wire.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

using namespace agentcore_runtime;

TEST(AgentcoreRuntimeWire, AnArnTellsTheRegionAndTheRuntime) {
  const auto arn =
      to_arn("arn:aws-cn:bedrock-agentcore:cn-north-1:123456789012:runtime/my_tools-abcdefghij");
  ASSERT_TRUE(arn);
  EXPECT_EQ(arn->region, "cn-north-1");
  EXPECT_EQ(arn->id, "my_tools-abcdefghij");
  for (const char* wrong :
       {"", "my_tools-abcdefghij",
        "arn:aws:bedrock-agentcore:us-east-1:1234:runtime/my_tools-abcdefghij",
        "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/my_tools-abcdefghij/x",
        "arn:aws:bedrock-agentcore:evil.example/:123456789012:runtime/my_tools-abcdefghij"})
    EXPECT_FALSE(to_arn(wrong)) << wrong;
}

TEST(AgentcoreRuntimeWire, OurIdIsInTheSessions) {
  const std::string ours = SandboxId::make().value, theirs = to_session_id(ours);
  EXPECT_GE(theirs.size(), 33u);
  EXPECT_LE(theirs.size(), 100u);
  EXPECT_EQ(to_sandbox_id(theirs), ours);
  EXPECT_EQ(to_sandbox_id(ours), "");
  EXPECT_EQ(to_sandbox_id("sandgate-sb1"), "");
}

TEST(AgentcoreRuntimeWire, ACommandHasNoQuoteInsideItsQuotes) {
  const Json body = to_command("echo 'it''s' \"$A\" \\", std::chrono::milliseconds(1500));
  const std::string command = body["command"];
  const std::string inside = command.substr(command.find('\'') + 1);
  EXPECT_EQ(inside.find('\''), inside.size() - 1);
  EXPECT_NE(inside.find(base64_encode("echo 'it''s' \"$A\" \\")), std::string::npos);
  EXPECT_EQ(body["timeout"], 2);
  EXPECT_EQ(to_command("true", {})["timeout"], 3600);
  EXPECT_EQ(to_command("true", std::chrono::hours(2))["timeout"], 3600);
  EXPECT_NO_THROW(to_command(std::string(48'000, 'x'), {}));
  EXPECT_THROW(to_command(std::string(64 << 10, 'x'), {}), Error);
}

TEST(AgentcoreRuntimeWire, ChunksAreOutputOrTheEnd) {
  EXPECT_FALSE(to_chunk(R"({"contentStart":{}})").status);
  const Chunk output = to_chunk(R"({"contentDelta":{"stdout":"a","stderr":"b"}})");
  EXPECT_EQ(output.out, "a");
  EXPECT_EQ(output.err, "b");
  EXPECT_EQ(to_chunk(R"({"contentStop":{"exitCode":7,"status":"COMPLETED"}})").status, 7);
  EXPECT_TRUE(to_chunk(R"({"contentStop":{"exitCode":0,"status":"TIMED_OUT"}})").timed_out);
  for (const char* wrong : {"", "[]", "{", R"({"contentStop":7})", R"({"contentStop":{}})",
                            R"({"contentStop":{"exitCode":"7"}})",
                            R"({"contentStop":{"exitCode":-1,"status":"COMPLETED"}})"})
    EXPECT_THROW(to_chunk(wrong), Error) << wrong;
}

class AgentcoreRuntime : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& line : vendor_lines())
      if (line.name == "agentcore_runtime")
        vendor_ = std::make_unique<Vendor>(line, loop_.executor());
    CreateSpec spec{.sandbox_id = SandboxId::make().value};
    spec.network.fallback = NetworkDefault::allow;
    box_ = loop_.run(provider().create(std::move(spec))).backend_id;
  }
  void TearDown() override { loop_.run(provider().kill(box_)); }

  Provider& provider() { return vendor_->provider(); }
  std::string printed(const std::string& shell) {
    Command command{.shell = shell, .process_id = ProcessId::make().value};
    auto stream = loop_.run(provider().exec(box_, std::move(command)));
    std::string out;
    while (auto event = loop_.run(stream->next()))
      if (const auto* chunk = std::get_if<OutputChunk>(&*event)) out += chunk->bytes;
    return out;
  }

  LiveLoop loop_;
  std::unique_ptr<Vendor> vendor_;
  std::string box_;
};

// The vendor's answers are text.
TEST_F(AgentcoreRuntime, OutputArrivesByteForByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string line = "printf %s " + base64_encode(bytes) + " | base64 -d";
  EXPECT_EQ(printed(line + "; " + line + " >&2"), bytes + bytes);
  std::string large;
  for (int i = 0; i < 40'000; ++i) large += "ä";
  EXPECT_EQ(printed("i=0; while [ $i -lt 40000 ]; do printf ä; i=$((i+1)); done"), large);
}

TEST_F(AgentcoreRuntime, WhatOutlivesACommandDoesNotHoldItsEnd) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(printed("sleep 20 & echo done"), "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// An exec asks once: whether the sandbox and the directory are there is told with the output.
TEST_F(AgentcoreRuntime, ACommandIsOneRequest) {
  const size_t before = vendor_->server().state()["asked"].size();
  EXPECT_EQ(printed("echo hi"), "hi\n");
  EXPECT_EQ(vendor_->server().state()["asked"].size(), before + 1);
}

// Asked for again, a session that ended is a new one, which must not be taken for the old.
TEST_F(AgentcoreRuntime, ASessionThatEndedIsGoneAndLeavesNothing) {
  loop_.run(provider().kill(box_));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(loop_.run(provider().find(box_)));
    const auto outcome = loop_.run(attempt(provider().exec(box_, {.argv = {"true"}})));
    const auto* error = std::get_if<Error>(&outcome);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::not_found);
    EXPECT_EQ(vendor_->server().state()["boxes"], Json::array());
  }
}

}  // namespace
}  // namespace sandgate::test
