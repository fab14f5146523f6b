#include "local/egress/http_head.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sandgate::egress {
namespace {

const std::string kGet = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";

HeadState state_of(const std::string& text) { return parse_request_head(text).state; }
std::string with(const std::string& fields) {
  return "POST /x HTTP/1.1\r\nHost: example.com\r\n" + fields + "\r\n";
}

TEST(RequestHead, ReadsARequest) {
  const auto result = parse_request_head(with("Content-Length: 5\r\nX-A:  b c \r\n") + "hello");
  ASSERT_EQ(result.state, HeadState::complete);
  EXPECT_EQ(result.head.method, "POST");
  EXPECT_EQ(result.head.target, "/x");
  EXPECT_EQ(result.head.field("x-a"), "b c");
  EXPECT_EQ(result.head.body, BodyKind::sized);
  EXPECT_EQ(result.head.body_bytes, 5u);
  EXPECT_EQ(result.bytes, with("Content-Length: 5\r\nX-A:  b c \r\n").size());
}

TEST(RequestHead, WaitsForEveryByte) {
  for (size_t length = 0; length < kGet.size(); ++length)
    ASSERT_EQ(state_of(kGet.substr(0, length)), HeadState::incomplete) << length;
  EXPECT_EQ(state_of(kGet), HeadState::complete);
}

TEST(RequestHead, RefusesWhatTwoReadersReadDifferently) {
  for (const std::string& text : {
           std::string("GET / HTTP/1.1\nHost: a\n\n"),
           std::string("GET / HTTP/1.1\r\nHost: a\n\r\n"),
           std::string("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\n\r\n"),
           std::string("GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
           std::string("PRI * HTTP/2.0\r\n\r\n"),
           std::string("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
           with("Host: other\r\n"),
           with("Content-Length: 5\r\nContent-Length: 5\r\n"),
           with("Content-Length: 5\r\nContent-Length: 6\r\n"),
           with("Content-Length: +5\r\n"),
           with("Content-Length: 0x5\r\n"),
           with("Content-Length: 5, 5\r\n"),
           with("Content-Length: 99999999999999999999\r\n"),
           with("Content-Length:\r\n"),
           with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
           with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
           with("Transfer-Encoding: gzip, chunked\r\n"),
           with("Transfer-Encoding: xchunked\r\n"),
           with("Transfer-Encoding : chunked\r\n"),
           with("X-A: b\r\n c\r\n"),
           with(" X-A: b\r\n"),
           with("X-A\r\n"),
           with("X A: b\r\n"),
           with(std::string("X-A: b\0c\r\n", 10)),
           with("X-A: b\rc\r\n"),
           with("X-A: \xff\r\n"),
           with("Connection: close, Host\r\n"),
           with("Content-Length: 5\r\nConnection: content-length\r\n"),
           with("Transfer-Encoding: chunked\r\nConnection: Transfer-Encoding , x\r\n"),
           with("Upgrade: h2c\r\n"),
           with("HTTP2-Settings: AAMAAABk\r\n"),
       })
    EXPECT_EQ(state_of(text), HeadState::malformed) << text;
  EXPECT_EQ(state_of(with("Transfer-Encoding: chunked\r\n")), HeadState::complete);
}

bool upgrades(const std::string& text) {
  const HeadResult result = parse_request_head(text);
  EXPECT_EQ(result.state, HeadState::complete) << text;
  return result.head.upgrade;
}

TEST(RequestHead, AnUpgradeIsMeantByBothFields) {
  const std::string field = "Upgrade: WebSocket\r\n";
  EXPECT_TRUE(upgrades(with(field + "Connection: keep-alive, Upgrade\r\n")));
  EXPECT_TRUE(upgrades(with("Connection: close\r\nConnection: upgrade\r\n" + field)));
  EXPECT_FALSE(upgrades(with(field)));
  EXPECT_FALSE(upgrades(with(field + "Connection: upgrades, keep-alive\r\n")));
  EXPECT_FALSE(upgrades(with("Connection: Upgrade\r\n")));
  EXPECT_FALSE(upgrades("GET / HTTP/1.0\r\nConnection: upgrade\r\n" + field + "\r\n"));
}

TEST(RequestHead, ItsTargetMayNameTheHost) {
  const auto apart = [](const std::string& target) {
    RequestHead head;
    head.target = target;
    const auto authority = take_authority(head, "https://");
    return authority ? *authority + " " + head.target : "-" + head.target;
  };
  EXPECT_EQ(apart("https://a.example/x?y"), "a.example /x?y");
  EXPECT_EQ(apart("HTTPS://a.example:8443"), "a.example:8443 /");
  EXPECT_EQ(apart("https://a.example?y"), "a.example /?y");
  EXPECT_EQ(apart("https://u@a.example/"), "u@a.example /") << "which is no target";
  for (const char* other : {"/x", "http://a.example/", "https:/a.example/", "https://a/#x", "*"})
    EXPECT_EQ(apart(other), std::string("-") + other);
}

TEST(RequestHead, IsBounded) {
  EXPECT_EQ(state_of(with("X-A: " + std::string(kMaxHeadBytes, 'a') + "\r\n")),
            HeadState::malformed);
  EXPECT_EQ(state_of(std::string(kMaxHeadBytes, 'a')), HeadState::malformed);
  std::string fields;
  for (int i = 0; i < 200; ++i) fields += "X-A: b\r\n";
  EXPECT_EQ(state_of(with(fields)), HeadState::malformed);
}

TEST(RequestHead, ItsConnectionFieldsNameFew) {
  std::string names = "x";
  for (size_t i = 2; i < ConnectionNames::kMaxNames; ++i) names += ", x";
  const std::string fields = "Connection: close\r\nConnection: " + names;
  EXPECT_EQ(state_of(with(fields + std::string(20'000, ',') + "\r\n")), HeadState::complete);
  EXPECT_EQ(state_of(with(fields + ",x\r\n")), HeadState::malformed);
}

TEST(LooksLikeHttp, TellsRequestsFromOtherWords) {
  EXPECT_EQ(looks_like_http(kGet), true);
  EXPECT_EQ(looks_like_http("\r\n\r\nGET / HTTP/1.1\r\n"), true);
  EXPECT_EQ(looks_like_http("GET / HT"), std::nullopt);
  EXPECT_EQ(looks_like_http("ping"), false);
  EXPECT_EQ(looks_like_http("get / HTTP/1.1\r\n"), true);
  EXPECT_EQ(looks_like_http("SSH-2.0-x\r\n"), false);
  EXPECT_EQ(looks_like_http(std::string("\0\0\0\x08", 4)), false);
  EXPECT_EQ(looks_like_http("EHLO example.com\r\n"), false);
  EXPECT_EQ(looks_like_http("GET key\r\n"), false) << "of another protocol";
  EXPECT_EQ(looks_like_http(std::string("AMQP\0\0\x09\x01", 8)), false);
}

TEST(LooksLikeHttp, SeesWhatSomeServersForgive) {
  for (const std::string line :
       {"GET /n\xc3\xa9 HTTP/1.1\r\n", "GET\t/ HTTP/1.1\r\n", "GET\v/ HTTP/1.1\r\n",
        " \tGET / HTTP/1.1\r\n", "GET /\r\n", "GET http://other.example/\r\n", "GET  / http/1.1\n",
        "\x01GET / HTTP/1.1\r\n"})
    EXPECT_EQ(looks_like_http(line), true) << line;
  EXPECT_EQ(looks_like_http("GET /n\xc3\xa9 HT"), std::nullopt) << "the rest may come later";
  EXPECT_EQ(looks_like_http("GET /" + std::string(kMaxHeadBytes, 'x')), true);
}

std::optional<size_t> whole_body(std::string_view bytes, size_t piece) {
  ChunkedBody body;
  size_t used = 0;
  while (used < bytes.size() && !body.done() && !body.bad())
    used += body.take(bytes.substr(used, piece));
  return body.done() ? std::optional(used) : std::nullopt;
}

TEST(ChunkedBody, FindsItsEndWhateverThePieces) {
  const std::string body = "5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n";
  for (size_t piece = 1; piece <= body.size() + 3; ++piece)
    EXPECT_EQ(whole_body(body + "GET", piece), body.size()) << piece;
}

TEST(ChunkedBody, PassesExtensions) {
  const std::string body = "5;x=y; z=\"a b\"\r\nhello\r\n0;last\r\n\r\n";
  for (size_t piece = 1; piece <= body.size() + 3; ++piece)
    EXPECT_EQ(whole_body(body + "GET", piece), body.size()) << piece;
  const std::string most(256, 'x'), rest = "\r\na\r\n1;" + most + "\r\na\r\n0\r\n\r\n";
  EXPECT_TRUE(whole_body("1;" + most + rest, 64)) << "each chunk may have as many";
  EXPECT_FALSE(whole_body("1;x" + most + rest, 64));
}

TEST(ChunkedBody, RefusesWhatTwoReadersReadDifferently) {
  for (const char* text : {"5;x\nhello\r\n0\r\n\r\n", "5;x\r\r\nhello\r\n0\r\n\r\n", ";x\r\n",
                           "5 ;x\r\nhello", "5;\x01\r\nhello", "5\nhello\r\n0\r\n\r\n", "\r\n",
                           "0\r\nX-A: b\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "-5\r\n", "0x5\r\n",
                           "fffffffffffffffff\r\n", " 5\r\nhello", "5 \r\nhello"})
    EXPECT_FALSE(whole_body(text, 64)) << text;
}

TEST(RequestHead, SurvivesEveryMutation) {
  std::mt19937 random(7);
  const std::string seed = with("Content-Length: 5\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n");
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = seed;
    for (int flips = static_cast<int>(random() % 5); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    parse_request_head(std::string_view(bytes).substr(0, random() % (bytes.size() + 1)));
    looks_like_http(bytes);
  }
}

}  // namespace
}  // namespace sandgate::egress
