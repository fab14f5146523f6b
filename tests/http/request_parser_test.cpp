#include "gateway/http/request_parser.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sandgate {
namespace {

// The body of a chunked request whose bytes arrive in pieces, as a connection reads it.
std::string body_in_pieces(std::string_view chunks, size_t piece) {
  http::Request request;
  const http::Limits limits;
  http::RequestParser parser(request, limits);
  parser.parse_head("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string pending, body;
  std::array<char, 3> room;
  while (!parser.is_done() && !chunks.empty()) {
    pending.append(chunks.substr(0, piece));
    chunks.remove_prefix(std::min(piece, chunks.size()));
    for (;;) {
      const size_t used = pending.empty() ? 0 : parser.parse_body(pending, room);
      pending.erase(0, used);
      if (used == 0) break;
      body.append(room.data(), parser.body_bytes());
      if (parser.is_done()) break;
    }
  }
  EXPECT_TRUE(parser.is_done()) << "pieces of " << piece;
  return body;
}

TEST(RequestParser, ABodyIsTheSameHoweverItIsCut) {
  for (size_t piece = 1; piece <= 32; ++piece) {
    EXPECT_EQ(body_in_pieces("0\r\n\r\n", piece), "");
    EXPECT_EQ(body_in_pieces("0\r\nX-A: b\r\n\r\n", piece), "");
    EXPECT_EQ(body_in_pieces("5\r\nhello\r\n0\r\n\r\n", piece), "hello");
    EXPECT_EQ(body_in_pieces("A\r\nhelloworld\r\n0\r\n\r\n", piece), "helloworld");
    EXPECT_EQ(body_in_pieces("1;e=1\r\nh\r\n4\r\nello\r\n00\r\n\r\n", piece), "hello");
  }
}

TEST(RequestParser, AnyTokenIsAMethod) {
  const http::Limits limits;
  const auto method_of = [&](const std::string& method) {
    http::Request request;
    http::RequestParser parser(request, limits);
    parser.parse_head(method + " / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(request.method == http::Method::other, method != "GET");
    return std::string(request.method_name());
  };
  for (const std::string method : {"GET", "PROPFIND", "TRACE", "get", "X-OWN", "a!#$%&'*+.^_`|~9"})
    EXPECT_EQ(method_of(method), method);
  EXPECT_EQ(method_of(std::string(32, 'X')), std::string(32, 'X'));
  for (const std::string& method : {std::string(33, 'X'), std::string("A(B"), std::string()})
    EXPECT_THROW(method_of(method), Error) << method;
}

// RFC 9112, 3.2.2.
TEST(RequestParser, TheHostOfATargetCounts) {
  const http::Limits limits;
  const auto host_of = [&](const std::string& line) {
    http::Request request;
    http::RequestParser parser(request, limits);
    parser.parse_head(line + "\r\nhost: b.test\r\n\r\n");
    return std::string(request.headers.find("Host").value_or(""));
  };
  EXPECT_EQ(host_of("GET /x HTTP/1.1"), "b.test");
  EXPECT_EQ(host_of("GET http://a.test:81/x?http://c HTTP/1.1"), "a.test:81");
  EXPECT_EQ(host_of("GET HTTPS://a.test?x HTTP/1.1"), "a.test");
  EXPECT_EQ(host_of("GET http://a.test HTTP/1.0"), "a.test");
}

// RFC 9110, 7.8.
TEST(RequestParser, IgnoresAnUpgradeOfHttp10) {
  const http::Limits limits;
  const auto asks = [&](const std::string& version) {
    http::Request request;
    http::RequestParser parser(request, limits);
    parser.parse_head("GET / " + version +
                      "\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                      "Sec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    EXPECT_EQ(request.headers.find("Upgrade").has_value(), request.is_websocket_upgrade())
        << version;
    return request.is_websocket_upgrade();
  };
  EXPECT_TRUE(asks("HTTP/1.1"));
  EXPECT_FALSE(asks("HTTP/1.0"));
}

}  // namespace
}  // namespace sandgate
