#include "local/egress/dns_message.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sandgate::egress {
namespace {

std::string label(std::string_view text) {
  return std::string(1, static_cast<char>(text.size())) + std::string(text);
}

// A query for `name` (already in wire form, without the final zero) and type.
std::string query(const std::string& wire_name, uint16_t type,
                  std::string_view counts = std::string_view("\0\1\0\0\0\0\0\0", 8),
                  std::string_view flags = std::string_view("\1\0", 2)) {
  std::string out("\x12\x34", 2);
  out.append(flags).append(counts).append(wire_name).push_back('\0');
  out.push_back(static_cast<char>(type >> 8));
  out.push_back(static_cast<char>(type));
  return out.append("\0\1", 2);
}

const std::string kExample = label("API") + label("example") + label("com");

TEST(DnsQuery, ReadsOneQuestion) {
  const auto parsed = parse_dns_query(query(kExample, kTypeA));
  ASSERT_TRUE(parsed.question);
  EXPECT_EQ(parsed.question->id, 0x1234);
  EXPECT_EQ(parsed.question->name, "api.example.com");
  EXPECT_EQ(parsed.question->type, kTypeA);
  EXPECT_EQ(parsed.question->payload_limit, 512);
}

TEST(DnsQuery, ReadsThePayloadSizeOfEdns) {
  const std::string opt("\0\0\x29\xff\xff\0\0\0\0\0\0", 11);
  const auto parsed =
      parse_dns_query(query(kExample, kTypeA, std::string_view("\0\1\0\0\0\0\0\1", 8)) + opt);
  ASSERT_TRUE(parsed.question);
  EXPECT_EQ(parsed.question->payload_limit, 1232);
}

TEST(DnsQuery, RefusesEverythingElse) {
  using namespace std::string_view_literals;
  const std::string dotted = label("a.b") + label("com");
  const struct {
    std::string message;
    DnsCode code;
  } cases[] = {
      {query(kExample, 1, "\0\2\0\0\0\0\0\0"sv), DnsCode::format_error},  // two questions
      {query(kExample, 1, "\0\1\0\1\0\0\0\0"sv), DnsCode::format_error},  // an answer in a query
      {query(kExample, 1, "\0\1\0\0\0\0\0\0"sv, "\x28\0"sv),
       DnsCode::not_implemented},  // an update
      {query(dotted, 1), DnsCode::format_error},
      {query("\xc0\x0c", 1), DnsCode::format_error},  // compression
      {query(label(std::string(63, 'a')) + "\x40" + std::string(64, 'a'), 1),
       DnsCode::format_error},
      {query(kExample, 1).substr(0, 20), DnsCode::format_error},
      {query(kExample, 1).replace(query(kExample, 1).size() - 1, 1, "\3"),
       DnsCode::refused},  // another class than the internet's
  };
  for (const auto& one : cases) {
    const auto parsed = parse_dns_query(one.message);
    EXPECT_FALSE(parsed.question);
    ASSERT_TRUE(parsed.refusal);
    EXPECT_EQ(parsed.refusal->code, one.code);
  }
  const auto answer = parse_dns_query(query(kExample, 1, "\0\1\0\0\0\0\0\0"sv, "\x81\0"sv));
  EXPECT_FALSE(answer.question || answer.refusal);
  EXPECT_FALSE(parse_dns_query("short").refusal);
}

TEST(DnsAnswer, EchoesTheQuestionAndPointsToIt) {
  const auto question = *parse_dns_query(query(kExample, kTypeA)).question;
  const std::string answer = dns_answer_v4(question, {198, 18, 0, 7}, 60);
  EXPECT_EQ(answer.substr(12, question.wire.size()), query(kExample, kTypeA).substr(12));
  EXPECT_EQ(answer.substr(answer.size() - 4), std::string("\xc6\x12\0\7", 4));
  EXPECT_EQ(static_cast<uint8_t>(answer[2]) & 0x80, 0x80);
  EXPECT_EQ(dns_answer(question, DnsCode::no_such_name)[3] & 0x0f, 3);
}

TEST(DnsQuery, SurvivesEveryMutation) {
  std::mt19937 random(7);
  const std::string seed = query(kExample, kTypeA);
  for (int i = 0; i < 50'000; ++i) {
    std::string message = seed.substr(0, random() % (seed.size() + 1));
    for (int flips = static_cast<int>(random() % 4); flips > 0 && !message.empty(); --flips)
      message[random() % message.size()] = static_cast<char>(random());
    const auto parsed = parse_dns_query(message);
    if (parsed.question) {
      EXPECT_LE(parsed.question->name.size(), 255u);
    }
  }
}

}  // namespace
}  // namespace sandgate::egress
