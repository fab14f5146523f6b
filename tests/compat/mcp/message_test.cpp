#include "gateway/compat/mcp/message.hpp"

#include <gtest/gtest.h>

namespace sandgate::compat::mcp {
namespace {

int refusal(const std::string& body) {
  const Received received = receive(body);
  return received.refusal.is_null() ? 0 : received.refusal.at("error").at("code").get<int>();
}

TEST(McpMessageTest, TellsRequestsNotificationsAndAnswersApart) {
  const auto request = receive(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1}})");
  EXPECT_TRUE(request.message.is_request());
  EXPECT_EQ(request.message.id, 7);
  EXPECT_EQ(request.message.params, Json({{"a", 1}}));
  const auto told = receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_TRUE(told.refusal.is_null());
  EXPECT_FALSE(told.message.is_request());
  const auto answer = receive(R"({"jsonrpc":"2.0","id":"x","result":{}})");
  EXPECT_TRUE(answer.refusal.is_null());
  EXPECT_FALSE(answer.message.is_request());
}

TEST(McpMessageTest, RefusesWhatIsNoMessage) {
  constexpr int kParse = -32700, kInvalid = -32600;
  EXPECT_EQ(refusal(""), kParse);
  EXPECT_EQ(refusal("{"), kParse);
  EXPECT_EQ(refusal("\xff"), kParse);
  EXPECT_EQ(refusal(std::string(100'000, '[')), kParse);
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","method":"a","method":"b"})"), kParse);
  for (const char* body :
       {"[]", "7", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "{}",
        R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"method":""})", R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1e400,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":{},"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})"})
    EXPECT_NE(refusal(body), 0) << body;
  const std::string id(257, 'x');
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","method":"ping","id":")" + id + "\"}"), kInvalid);
  EXPECT_EQ(refusal("[]"), kInvalid);
}

TEST(McpMessageTest, ARefusalHasNoId) {
  EXPECT_EQ(receive("[]").refusal.at("id"), nullptr);
  EXPECT_EQ(receive("[]").refusal.at("jsonrpc"), "2.0");
}

}  // namespace
}  // namespace sandgate::compat::mcp
