#include "providers/transport/grpc_call.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate::grpc {
namespace {

using namespace std::string_literals;

TEST(GrpcFraming, MessagesAreCutOutOfBytesHoweverTheyArrive) {
  const std::string bytes = frame("one") + frame("") + frame(std::string(70'000, 'x'));
  EXPECT_EQ(bytes.substr(0, 8), "\0\0\0\0\x03one"s);
  for (const size_t step : {size_t{1}, size_t{4}, size_t{5}, size_t{1000}, bytes.size()}) {
    MessageSplitter splitter;
    std::vector<std::string> messages;
    for (size_t at = 0; at < bytes.size(); at += step) {
      splitter.add(std::string_view(bytes).substr(at, step));
      while (auto message = splitter.next()) messages.push_back(std::move(*message));
    }
    ASSERT_EQ(messages.size(), 3u) << step;
    EXPECT_EQ(messages[0] + messages[1], "one");
    EXPECT_EQ(messages[2].size(), 70'000u);
    EXPECT_FALSE(splitter.is_cut());
  }
}

TEST(GrpcFraming, HostileBytesAreRefused) {
  const auto refused = [](std::string_view bytes) {
    MessageSplitter splitter(1000);
    try {
      splitter.add(bytes);
    } catch (const Error& error) {
      return error.code == ErrorCode::unavailable;
    }
    return false;
  };
  EXPECT_TRUE(refused("\0\0\0\x03\xe9"s));  // one byte more than there may be
  EXPECT_TRUE(refused("\0\xff\xff\xff\xff"s));
  EXPECT_TRUE(refused("\x01\0\0\0\0"s));  // compressed
  EXPECT_TRUE(refused("\x80\0\0\0\0"s));  // the trailers of another protocol
  EXPECT_TRUE(refused("HTTP/1.1 200 OK"));
  EXPECT_FALSE(refused("\0\0\0\x03\xe8"s));
  MessageSplitter cut;
  cut.add("\0\0\0"s);
  EXPECT_TRUE(cut.is_cut());
  EXPECT_FALSE(cut.next());
}

TEST(GrpcStatus, IsReadFromFields) {
  const auto status = status_of({{"grpc-status", "8"},
                                 {"grpc-message", "no%20more %e2%82%ac %zz %4"},
                                 {"grpc-status-details-bin", "CAESAm5v"}});
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 8);
  EXPECT_EQ(status->message, "no more € %zz %4");
  EXPECT_EQ(status->details, "\x08\x01\x12\x02no");
  EXPECT_EQ(status_of({{"Grpc-Status", "0"}})->code, kOk);
  EXPECT_EQ(status_of({{"grpc-status", "5"}, {"grpc-status-details-bin", "CAE"}})->details,
            "\x08\x01");
  EXPECT_FALSE(status_of({{"content-type", "application/grpc"}}));
  for (const char* wrong : {"", "x", "5x", "-1", "99999999999"})
    EXPECT_EQ(status_of({{"grpc-status", wrong}})->code, kUnknown) << wrong;
  EXPECT_EQ(status_of({{"grpc-status", "5"}, {"grpc-status-details-bin", "!!"}})->details, "");
}

TEST(GrpcStatus, CodesBecomeWhatTheCallerCanDo) {
  const auto code = [](int status) { return error_of("x", {status, "secret", ""}).code; };
  const std::vector<ErrorCode> expected{
      ErrorCode::unavailable, ErrorCode::unavailable,  ErrorCode::invalid,
      ErrorCode::timeout,     ErrorCode::not_found,    ErrorCode::conflict,
      ErrorCode::unavailable, ErrorCode::rate_limited, ErrorCode::conflict,
      ErrorCode::conflict,    ErrorCode::invalid,      ErrorCode::unsupported,
      ErrorCode::unavailable, ErrorCode::unavailable,  ErrorCode::unavailable,
      ErrorCode::unavailable, ErrorCode::unavailable};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(code(static_cast<int>(i) + 1), expected[i]) << i + 1;
  EXPECT_TRUE(are_credentials_refused(error_of("x", {16, "", ""})));
  EXPECT_TRUE(are_credentials_refused(error_of("x", {7, "", ""})));
  EXPECT_FALSE(are_credentials_refused(error_of("x", {14, "", ""})));
  const Error error = error_of("x", {13, "secret", ""});
  EXPECT_EQ(error.provider, "x");
  EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
}

const HttpFields kGood{{"grpc-status", "0"}}, kMissing{{"grpc-status", "5"}};

class GrpcChannel : public testing::Test {
 protected:
  // The answer, or the name of the code of the Error.
  std::string call(HttpReply reply) {
    client_.always(std::move(reply));
    try {
      return test::run(channel_.call({.path = "/p.S/M", .message = "ask"}));
    } catch (const Error& error) {
      EXPECT_EQ(error.provider, "x");
      return std::string(to_string(error.code));
    }
  }
  std::string stream(HttpReply reply) {
    client_.always(std::move(reply));
    std::string all;
    try {
      const auto messages = test::run(channel_.stream({.path = "/p.S/M", .message = "ask"}));
      while (auto message = test::run(messages->next())) all += *message + ",";
      EXPECT_FALSE(test::run(messages->next()));
    } catch (const Error& error) {
      all += to_string(error.code);
    }
    return all;
  }

  test::ScriptedClient client_;
  Channel channel_{client_, {.provider = "x", .base_url = "http://h"}};
};

TEST_F(GrpcChannel, ACallIsAPostOfOneMessage) {
  EXPECT_EQ(call({200, {}, frame("answer"), kGood}), "answer");
  EXPECT_EQ(client_.last().method, "POST");
  EXPECT_EQ(client_.last().url, "http://h/p.S/M");
  EXPECT_EQ(client_.last().body,
            "\0\0\0\0\x03"
            "ask"s);
  EXPECT_TRUE(client_.last().http2);
  EXPECT_EQ(find_field(client_.last().headers, "content-type"), "application/grpc");
  EXPECT_EQ(find_field(client_.last().headers, "te"), "trailers");
}

TEST_F(GrpcChannel, AnAnswerIsOneMessageAndASuccess) {
  EXPECT_EQ(call({200, {}, frame(""), kGood}), "");
  EXPECT_EQ(call({200, {}, "", kGood}), "unavailable");
  EXPECT_EQ(call({200, {}, frame("a") + frame("b"), kGood}), "unavailable");
  EXPECT_EQ(call({200, {}, frame("a") + "\0"s, kGood}), "unavailable");
  EXPECT_EQ(call({200, {}, frame("a").substr(0, 5), kGood}), "unavailable");
  EXPECT_EQ(call({200, {}, frame("a"), {}}), "unavailable");
  EXPECT_EQ(call({200, {}, frame("a"), kMissing}), "not_found");
  EXPECT_EQ(call({200, kMissing, "", {}}), "not_found");
  // What comes last counts.
  EXPECT_EQ(call({200, kGood, frame("a"), kMissing}), "not_found");
}

TEST_F(GrpcChannel, WhatIsNoGrpcHasTheCodeOfItsStatus) {
  EXPECT_EQ(call({404, {}, "<html>", {}}), "not_found");
  EXPECT_EQ(call({502, {}, "", {}}), "unavailable");
  EXPECT_EQ(call({200, {{"content-type", "text/html"}}, "<html>", {}}), "unavailable");
  EXPECT_EQ(stream({429, {}, "", {}}), "rate_limited");
}

TEST_F(GrpcChannel, AStreamEndsWithItsStatus) {
  EXPECT_EQ(stream({200, {}, frame("a") + frame("b"), kGood}), "a,b,");
  EXPECT_EQ(stream({200, {}, "", kGood}), "");
  EXPECT_EQ(stream({200, {}, frame("a"), kMissing}), "a,not_found");
  EXPECT_EQ(stream({200, {}, frame("a"), {}}), "a,unavailable");
  EXPECT_EQ(stream({200, {}, frame("a") + "\0\0"s, kGood}), "a,unavailable");
  EXPECT_EQ(stream({200, {}, frame("a") + "\x02"s, kGood}), "a,unavailable");
  EXPECT_EQ(stream({200, kMissing, "", {}}), "not_found");
}

}  // namespace
}  // namespace sandgate::grpc
