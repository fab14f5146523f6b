#include "providers/transport/connect_stream.hpp"

#include <gtest/gtest.h>

namespace sandgate::connect {
namespace {

TEST(EnvelopeSplitter, CutsMessagesWhereverTheBytesBreak) {
  std::string bytes = envelope({{"a", 1}}) + envelope({{"b", 2}});
  bytes += std::string("\x02\0\0\0\x02{}", 7);
  EnvelopeSplitter splitter;
  std::vector<Message> messages;
  for (const char byte : bytes) {
    splitter.add({&byte, 1});
    while (auto message = splitter.next()) messages.push_back(*message);
  }
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].json, (Json{{"a", 1}}));
  EXPECT_EQ(messages[1].json, (Json{{"b", 2}}));
  EXPECT_FALSE(messages[1].last);
  EXPECT_TRUE(messages[2].last);
}

TEST(EnvelopeSplitter, RefusesWhatIsNone) {
  const auto add = [](std::string bytes) { EnvelopeSplitter(100).add(bytes); };
  EXPECT_THROW(add(std::string("\0\0\0\xFF\xFF", 5)), Error);
  EXPECT_THROW(add(std::string("\x01\0\0\0\x02{}", 7)), Error);
  EXPECT_THROW(add(std::string("\0\0\0\0\x02[]", 7)), Error);
  EXPECT_THROW(add(std::string("\0\0\0\0\x02{x", 7)), Error);
}

TEST(EnvelopeSplitter, RefusesWhatWouldTakeLongToRead) {
  const auto list_of = [](size_t count) {
    return envelope({{"a", Json::array_t(count, Json::array())}});
  };
  EnvelopeSplitter splitter;
  splitter.add(list_of(1000));
  EXPECT_EQ(splitter.next()->json["a"].size(), 1000u);
  EXPECT_THROW(splitter.add(list_of(100'000)), Error);
}

TEST(ConnectError, NamesBecomeWhatTheCallerCanDo) {
  const auto code = [](const char* name) { return error_of("x", {{"code", name}}).code; };
  EXPECT_EQ(code("not_found"), ErrorCode::not_found);
  EXPECT_EQ(code("invalid_argument"), ErrorCode::invalid);
  EXPECT_EQ(code("already_exists"), ErrorCode::conflict);
  EXPECT_EQ(code("unauthenticated"), ErrorCode::unavailable);
  EXPECT_EQ(code("anything"), ErrorCode::unavailable);
  EXPECT_EQ(error_of("x", Json::array()).code, ErrorCode::unavailable);
  EXPECT_EQ(read_error("x", {404, {}, "<html>"}).code, ErrorCode::not_found);
}

TEST(ConnectError, SaysWhenToComeBack) {
  const auto told = [](const HttpFields& headers, const char* body) {
    return read_error("x", {429, headers, body});
  };
  const char* exhausted = R"({"code":"resource_exhausted"})";
  const Error limited = told({{"Retry-After", "7"}}, exhausted);
  EXPECT_EQ(limited.code, ErrorCode::rate_limited);
  EXPECT_EQ(limited.retry_after, std::chrono::seconds(7));
  EXPECT_EQ(told({}, exhausted).code, ErrorCode::quota_exceeded);
  EXPECT_EQ(told({}, exhausted).retry_after, std::nullopt);
  const Error away = told({{"Retry-After", "2"}}, R"({"code":"unavailable"})");
  EXPECT_EQ(away.code, ErrorCode::unavailable);
  EXPECT_EQ(away.retry_after, std::chrono::seconds(2));
}

// Otherwise it could not be written into an answer or a row.
TEST(ConnectError, ALongNameIsCutBetweenCharacters) {
  const std::string name = std::string(39, 'a') + "\u00e4";
  EXPECT_EQ(error_of("x", {{"code", name}}).what(), "x says " + std::string(39, 'a'));
}

}  // namespace
}  // namespace sandgate::connect
