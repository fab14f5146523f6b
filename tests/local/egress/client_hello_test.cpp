#include "local/egress/client_hello.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sandgate::egress {
namespace {

std::string number(size_t value, size_t width) {
  std::string out;
  while (width-- > 0) out.push_back(static_cast<char>(value >> (8 * width)));
  return out;
}
std::string field(size_t width, const std::string& content) {
  return number(content.size(), width) + content;
}
std::string extension(size_t type, const std::string& content) {
  return number(type, 2) + field(2, content);
}
std::string sni(const std::string& name) {
  return extension(0, field(2, number(0, 1) + field(2, name)));
}

std::string handshake(const std::string& extensions) {
  const std::string body = number(0x0303, 2) + std::string(32, 'r') + field(1, "") +
                           field(2, number(0x1301, 2)) + field(1, number(0, 1)) +
                           field(2, extensions);
  return number(1, 1) + field(3, body);
}
std::string record(const std::string& content, size_t version = 0x0301, size_t type = 22) {
  return number(type, 1) + number(version, 2) + field(2, content);
}

TEST(ClientHello, ReadsNameAndProtocols) {
  const auto result = parse_client_hello(record(handshake(
      sni("API.example.com") + extension(16, field(2, field(1, "h2") + field(1, "http/1.1"))))));
  ASSERT_EQ(result.state, HelloState::complete);
  EXPECT_EQ(result.hello.server_name, "api.example.com");
  EXPECT_EQ(result.hello.protocols, (std::vector<std::string>{"h2", "http/1.1"}));
  EXPECT_FALSE(result.hello.encrypted_hello);
}

TEST(ClientHello, WaitsForEverySplitAndReadsFragmentedRecords) {
  // A post-quantum key share pushes the name behind the first segment.
  const std::string whole =
      handshake(extension(51, std::string(1300, 'k')) + sni("late.example.com"));
  const std::string split = record(whole.substr(0, 900)) + record(whole.substr(900));
  for (size_t length = 0; length < split.size(); ++length)
    ASSERT_EQ(parse_client_hello(std::string_view(split).substr(0, length)).state,
              HelloState::incomplete)
        << length;
  EXPECT_EQ(parse_client_hello(split).hello.server_name, "late.example.com");
}

TEST(ClientHello, LeavesAtOnceWhatIsNotTls) {
  EXPECT_EQ(parse_client_hello("GET / HTTP/1.1").state, HelloState::not_tls);
  EXPECT_EQ(parse_client_hello("SSH-2.0").state, HelloState::not_tls);
}

TEST(ClientHello, IsReadWhateverVersionItsRecordsName) {
  // Some servers look at the version of records only loosely, or not at all.
  for (const size_t version : {0x0000, 0x0201, 0x0400, 0x0fff})
    EXPECT_EQ(
        parse_client_hello(record(handshake(sni("a.example.com")), version)).hello.server_name,
        "a.example.com")
        << version;
  EXPECT_EQ(parse_client_hello(record(handshake(sni("a.example.com")), 0x1000)).state,
            HelloState::not_tls);
}

TEST(ClientHello, NothingComesBeforeIt) {
  // An alert (21), a change of ciphers (20), data (23) or a heartbeat (24), which servers pass
  // over.
  for (const size_t type : {20, 21, 23, 24})
    EXPECT_EQ(parse_client_hello(record("\x01\x01", 0x0301, type) +
                                 record(handshake(sni("a.example.com"))))
                  .state,
              HelloState::malformed)
        << type;
}

TEST(ClientHello, RefusesAmbiguousAndBrokenOnes) {
  for (const std::string& extensions :
       {sni("a.example.com") + sni("b.example.com"), sni(""), sni(std::string("a\0.com", 6)),
        sni("a b"),
        extension(0, field(2, number(0, 1) + field(2, "a") + number(0, 1) + field(2, "b"))),
        number(0, 2)})
    EXPECT_EQ(parse_client_hello(record(handshake(extensions))).state, HelloState::malformed);
  EXPECT_EQ(parse_client_hello(record(number(2, 1) + field(3, "server hello"))).state,
            HelloState::malformed);
  EXPECT_EQ(parse_client_hello(record(number(1, 1) + number(1 << 20, 3) + "x")).state,
            HelloState::malformed);
}

TEST(ClientHello, SeesAnEncryptedHello) {
  const auto result = parse_client_hello(
      record(handshake(sni("front.example.com") + extension(0xfe0d, number(0, 1) + "…"))));
  EXPECT_TRUE(result.hello.encrypted_hello);
}

TEST(ClientHello, SurvivesEveryMutation) {
  std::mt19937 random(7);
  const std::string seed =
      record(handshake(sni("api.example.com") + extension(16, field(2, field(1, "h2")))));
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = seed;
    for (int flips = static_cast<int>(random() % 5); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    parse_client_hello(std::string_view(bytes).substr(0, random() % (bytes.size() + 1)));
  }
}

}  // namespace
}  // namespace sandgate::egress
