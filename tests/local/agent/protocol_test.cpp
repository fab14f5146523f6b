#include "local/agent/protocol.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

void feed(FrameParser& parser, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = parser.prepare();
    const size_t count = bytes.copy(room.data(), room.size());
    parser.commit(count);
    bytes.remove_prefix(count);
  }
}

TEST(ProtocolTest, FramesSurviveAnyCutting) {
  const std::string sent = frame(FrameType::reply, "{}") + frame(FrameType::bytes, "") +
                           frame(FrameType::end, std::string(kMaxPayload, 'x'));
  for (size_t step : {1u, 3u, 7u, 4096u, 70'000u}) {
    FrameParser parser(512 * 1024);
    std::vector<std::pair<FrameType, std::string>> got;
    for (size_t at = 0; at < sent.size(); at += step) {
      feed(parser, std::string_view(sent).substr(at, step));
      while (const auto next = parser.next()) got.emplace_back(next->type, next->payload);
    }
    ASSERT_EQ(got.size(), 3u);
    EXPECT_EQ(got[0].second, "{}");
    EXPECT_EQ(got[2].second.size(), kMaxPayload);
  }
}

TEST(ProtocolTest, RefusesWhatCannotBe) {
  const auto refused = [](std::string bytes) {
    FrameParser parser;
    feed(parser, bytes);
    EXPECT_THROW(parser.next(), Error);
  };
  refused(std::string("\x01\x00\x01\x00\x02", 5));  // 64 KiB and one
  refused(std::string("\xff\xff\xff\xff\x02", 5));
  refused(std::string("\x00\x00\x00\x00\x00", 5));
  refused(std::string("\x00\x00\x00\x00\x0a", 5));
}

TEST(ProtocolTest, RandomBytesNeverBreakTheParser) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    FrameParser parser;
    try {
      for (int part = 0; part < 8; ++part) {
        std::string bytes(random() % 64, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random() % 4 ? random() % 10 : random());
        feed(parser, bytes);
        while (const auto next = parser.next())
          if (next->type == FrameType::output) (void)parse_output(next->payload);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::invalid);
    }
  }
}

TEST(ProtocolTest, SplitsLongRequests) {
  const std::string json(150'000, 'j');
  FrameParser parser(512 * 1024);
  feed(parser, request_frames(json));
  std::string joined;
  std::optional<Frame> last;
  while (const auto next = parser.next()) {
    joined += next->payload;
    last = next;
  }
  EXPECT_EQ(joined, json);
  EXPECT_EQ(last->type, FrameType::request);
  EXPECT_THROW(request_frames(std::string(kMaxRequest + 1, 'x')), Error);
}

}  // namespace
}  // namespace sandgate::agent
