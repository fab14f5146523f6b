#include "providers/agentcore/aws_event_stream.hpp"

#include <gtest/gtest.h>

#include <boost/crc.hpp>

#include "tests/support/live_loop.hpp"

namespace sandgate::aws {
namespace {

std::string number(uint64_t value, int size) {
  std::string bytes;
  for (int i = size - 1; i >= 0; --i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

std::string checksum(const std::string& bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return number(crc.checksum(), 4);
}

std::string text_header(const std::string& name, const std::string& value) {
  return number(name.size(), 1) + name + "\x07" + number(value.size(), 2) + value;
}

// A message whose lengths may be lies, with the checksums of what it says.
std::string message(const std::string& headers, const std::string& payload, uint64_t total,
                    uint64_t header_length) {
  std::string bytes = number(total, 4) + number(header_length, 4);
  bytes += checksum(bytes) + headers + payload;
  return bytes + checksum(bytes);
}

std::string message(const std::string& headers, const std::string& payload) {
  return message(headers, payload, 16 + headers.size() + payload.size(), headers.size());
}

std::string event(const std::string& type, const std::string& payload) {
  return message(text_header(":message-type", "event") + text_header(":event-type", type), payload);
}

void add(const std::string& bytes, size_t limit = 1000) { EventMessageSplitter(limit).add(bytes); }

std::vector<EventMessageReader::Event> events_of(const std::string& bytes) {
  test::LiveLoop loop;
  EventMessageReader reader("x", std::make_unique<TextBytes>(bytes));
  std::vector<EventMessageReader::Event> events;
  while (auto event = loop.run(reader.next())) events.push_back(*event);
  return events;
}

TEST(AwsEventStream, ReadsWhatThePublishedExampleHolds) {
  // 14 bytes of payload without headers, with the checksums that AWS's own libraries compute.
  const std::string bytes(
      "\x00\x00\x00\x1D\x00\x00\x00\x00\xFD\x52\x8C\x5A{'foo':'bar'}\xC3\x65\x39\x36", 29);
  EventMessageSplitter splitter;
  splitter.add(bytes);
  const auto read = splitter.next();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->payload, "{'foo':'bar'}");
  EXPECT_TRUE(read->headers.empty());
}

TEST(AwsEventStream, CutsMessagesWhereverTheBytesBreak) {
  const std::string bytes = event("chunk", std::string("a\0b", 3)) + event("end", "");
  EventMessageSplitter splitter;
  std::vector<EventMessage> messages;
  for (const char byte : bytes) {
    splitter.add({&byte, 1});
    while (auto one = splitter.next()) messages.push_back(*one);
  }
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].headers[":event-type"], "chunk");
  EXPECT_EQ(messages[0].payload, std::string("a\0b", 3));
  EXPECT_EQ(messages[1].payload, "");
  EXPECT_FALSE(splitter.is_inside());
}

TEST(AwsEventStream, HeadersOfEveryTypeArePassedOver) {
  std::string headers;
  const std::vector<std::pair<char, std::string>> values{
      {0, ""},     {1, ""},         {2, "a"},        {3, "ab"},
      {4, "abcd"}, {5, "abcdefgh"}, {8, "abcdefgh"}, {9, "abcdefghabcdefgh"}};
  for (const auto& [type, value] : values) headers += std::string("\x01n") + type + value;
  headers += std::string("\x01n\x06\x00\x02zz", 7) + text_header("t", "v");
  EventMessageSplitter splitter;
  splitter.add(message(headers, "p"));
  const auto read = splitter.next();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->headers, (std::map<std::string, std::string>{{"t", "v"}}));
}

TEST(AwsEventStream, EveryFlippedBitIsSeen) {
  const std::string whole = event("chunk", "payload");
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW(add(bytes), Error) << bit;
  }
}

TEST(AwsEventStream, LengthsThatLieAreRefused) {
  EXPECT_THROW(add(message("", "", 15, 0)), Error);
  EXPECT_THROW(add(message("", "", 0, 0)), Error);
  EXPECT_THROW(add(message("", "", 16, 1)), Error);
  EXPECT_THROW(add(message("", "", 0xFFFFFFFF, 0xFFFFFFFF)), Error);
  EXPECT_THROW(add(message("", "", 1001, 0)), Error);
  EXPECT_THROW(add(message("", "", 300'000, 200'000), 1 << 20), Error);
  // Headers that reach beyond their block, or are of no known type.
  EXPECT_THROW(add(message("\xFFn", "")), Error);
  EXPECT_THROW(add(message(std::string("\x01n\x07\x00\x05"
                                       "ab",
                                       7),
                           "payload")),
               Error);
  EXPECT_THROW(add(message("\x01n\x05"
                           "abc",
                           "payload")),
               Error);
  EXPECT_THROW(add(message("\x01n\x0A", "")), Error);
  EXPECT_THROW(add(message("\x01n", "")), Error);
}

TEST(AwsEventStream, TheEndIsToldFromABreak) {
  EXPECT_EQ(events_of("").size(), 0u);
  const std::string whole = event("chunk", "a") + event("end", "b");
  const auto events = events_of(whole);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].type, "end");
  EXPECT_EQ(events[1].payload, "b");
  EXPECT_THROW(events_of(whole.substr(0, whole.size() - 1)), Error);
  EXPECT_THROW(events_of(whole + "x"), Error);
}

TEST(AwsEventStream, ExceptionsBecomeWhatTheCallerCanDo) {
  const auto code = [](const std::string& headers) {
    try {
      events_of(message(headers, "secret"));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
      return error.code;
    }
    return ErrorCode::internal;
  };
  const auto exception = [&](const char* type) {
    return code(text_header(":message-type", "exception") + text_header(":exception-type", type));
  };
  EXPECT_EQ(exception("resourceNotFoundException"), ErrorCode::not_found);
  EXPECT_EQ(exception("throttlingException"), ErrorCode::rate_limited);
  EXPECT_EQ(exception("serviceQuotaExceededException"), ErrorCode::no_capacity);
  EXPECT_EQ(exception("validationException"), ErrorCode::invalid);
  EXPECT_EQ(exception("conflictException"), ErrorCode::conflict);
  EXPECT_EQ(exception("anything"), ErrorCode::unavailable);
  EXPECT_TRUE(are_credentials_refused(error_of_exception("x", "AccessDeniedException")));
  EXPECT_EQ(code(text_header(":message-type", "error")), ErrorCode::unavailable);
  EXPECT_EQ(code(""), ErrorCode::unavailable);
}

}  // namespace
}  // namespace sandgate::aws
