#include "tests/local/egress/http_forward_fixture.hpp"

namespace sandgate::egress::test {
namespace {

template <class From>
error_code read_answer(From& from) {
  std::string heard;
  error_code failure;
  asio::read(from, asio::dynamic_buffer(heard), failure);
  EXPECT_EQ(heard, kPassedAnswer);
  return failure;
}

TEST_F(HttpForwardTest, AWholeAnswerEnds) {
  PlainStream client(connection().client);
  EXPECT_EQ(end_at_client(client, End::orderly, [&] { return read_answer(program()); }),
            asio::error::eof);
}

TEST_F(HttpForwardTest, AnAnswerThatBreaksOffDoesNotSeemWhole) {
  PlainStream client(connection().client);
  EXPECT_EQ(end_at_client(client, End::reset, [&] { return read_answer(program()); }),
            asio::error::connection_reset);
}

error_code read_by_tls(Socket& program) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  asio::ssl::stream<Socket&> tls(program, context);
  tls.handshake(asio::ssl::stream_base::client);
  return read_answer(tls);
}

TEST_F(HttpForwardTest, OverTlsTheEndIsToldOrNot) {
  TlsStream client(connection().client, sandbox().authority().context_for("a.example"));
  EXPECT_EQ(end_at_client(client, End::orderly, [&] { return read_by_tls(program()); }),
            asio::error::eof);
}

TEST_F(HttpForwardTest, OverTlsTheEndIsNotToldOfWhatBreaksOff) {
  TlsStream client(connection().client, sandbox().authority().context_for("a.example"));
  EXPECT_EQ(end_at_client(client, End::reset, [&] { return read_by_tls(program()); }),
            asio::ssl::error::stream_truncated);
}

TEST_F(HttpForwardTest, TheUpstreamOfAWholeBodyIsNotReset) {
  exchange("1\r\nz\r\n" + kLastChunk, "", false, kLastChunk);
  EXPECT_TRUE(at_host().text.ends_with("1\r\nz\r\n" + kLastChunk)) << at_host().text;
  EXPECT_EQ(at_host().end, asio::error::eof);
  EXPECT_EQ(at_program().text, kPassedAnswer);
  EXPECT_EQ(at_program().end, asio::error::eof);
  EXPECT_TRUE(sandbox().verdicts().empty());
}

TEST_F(HttpForwardTest, AMalformedBodyIsRefusedAndNotTakenForWhole) {
  exchange("1\r\nz\r\n0\r\nX-Trailer: a\r\n\r\n", "", false, kLastChunk);
  EXPECT_EQ(at_host().end, asio::error::connection_reset);
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 400 ")) << at_program().text;
  EXPECT_NE(at_program().text.find("\"reason\":\"malformed chunk\""), std::string::npos);
  EXPECT_EQ(at_program().end, asio::error::eof);
  ASSERT_EQ(sandbox().verdicts().size(), 1U);
  EXPECT_FALSE(sandbox().verdicts().back().allowed);
  EXPECT_EQ(sandbox().verdicts().back().target, "a.example:80");
  EXPECT_EQ(sandbox().verdicts().back().reason, "malformed chunk");
}

TEST_F(HttpForwardTest, AnAnswerThatHasBegunIsNotFollowedByARefusal) {
  exchange("1\r\nz\r\n", "0x1\r\n", false, "z\r\n");
  EXPECT_EQ(at_host().end, asio::error::connection_reset);
  EXPECT_EQ(at_program().text, kPassedAnswer);
  EXPECT_EQ(at_program().end, asio::error::connection_reset);
  EXPECT_EQ(sandbox().verdicts().size(), 1U);
}

TEST_F(HttpForwardTest, ABodyThatItsClientLeavesIsNotTakenForWhole) {
  exchange("5\r\nab", "", true, kLastChunk);
  EXPECT_TRUE(at_host().text.ends_with("5\r\nab")) << at_host().text;
  EXPECT_EQ(at_host().end, asio::error::connection_reset);
}

std::string switching(const std::string& fields) {
  return "HTTP/1.1 101 Switching Protocols\r\n" + fields + "\r\n\x81\x01x";
}

// The host reads without answering.
TEST_F(HttpForwardTest, ARequestEndsWithAClientThatHasLeft) {
  exchange(
      kPlainRequest, Redactor(), [&] { return leave(); },
      [&] { return serve("nothing that ends it", "", false); });
  EXPECT_TRUE(at_host().text.ends_with("\r\n\r\n")) << at_host().text;
  EXPECT_EQ(at_host().end, asio::error::eof);
}

TEST_F(HttpForwardTest, OverTlsARequestEndsWithItsClient) {
  TlsStream client(connection().client, sandbox().authority().context_for("a.example"));
  exchange(
      client, kPlainRequest, Redactor(), [&] { return leave_by_tls(); },
      [&] { return serve("nothing that ends it", "", false); });
  EXPECT_TRUE(at_host().text.ends_with("\r\n\r\n")) << at_host().text;
  EXPECT_EQ(at_host().end, asio::error::eof);
}

// The control: it may wait for the answer.
TEST_F(HttpForwardTest, AClientThatOnlyEndsItsSendingGetsItsAnswer) {
  exchange(
      kPlainRequest, Redactor(), [&] { return talk("", "", true); },
      [&] { return serve("\r\n\r\n", kAnswer, true); });
  EXPECT_EQ(at_program().text, kPassedAnswer);
  EXPECT_EQ(at_program().end, asio::error::eof);
}

TEST_F(HttpForwardTest, OpensTheWebSocketThatWasAskedFor) {
  const std::string answer = switching("Connection: Upgrade\r\nupgrade: WebSocket\r\n");
  ask(true, answer);
  EXPECT_EQ(at_program().text, answer);
  EXPECT_TRUE(sandbox().verdicts().empty());
}

// What nobody looks into would be open both ways.
class OtherProtocol : public HttpForwardTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(OtherProtocol, IsRefused) {
  ask(true, switching(GetParam()));
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 502 ")) << at_program().text;
  EXPECT_NE(at_program().text.find("\"reason\":\"other_protocol\""), std::string::npos);
  ASSERT_EQ(sandbox().verdicts().size(), 1U);
  EXPECT_EQ(sandbox().verdicts().back().reason, "other_protocol");
}

INSTANTIATE_TEST_SUITE_P(Fields, OtherProtocol,
                         ::testing::Values("", "Connection: Upgrade\r\n", "Upgrade: h2c\r\n",
                                           "Upgrade: websocket, h2c\r\n",
                                           "Upgrade: h2c\r\nUpgrade: websocket\r\n"));

TEST_F(HttpForwardTest, RefusesAProtocolThatNobodyAskedFor) {
  ask(false, switching("Upgrade: websocket\r\n"));
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 502 ")) << at_program().text;
}

Redactor hiding(const std::string& value) {
  return Redactor({std::make_shared<const Needle>(Secret(value))});
}

TEST_F(HttpForwardTest, AnAnswerThatCannotBeMaskedIsRefused) {
  ask(false, "HTTP/1.1 200 OK\r\nTransfer-Encoding: br, chunked\r\n\r\n", hiding("value"));
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 502 ")) << at_program().text;
  ASSERT_EQ(sandbox().verdicts().size(), 1U);
  EXPECT_EQ(sandbox().verdicts().back().reason, "malformed_answer");
}

const std::string kDeflated = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n";
// Copied, not compressed, so that only its begin differs.
const std::string kDeflatedValue = std::string("\x01\x06\x00\xf9\xff", 5) + "value!";

TEST_F(HttpForwardTest, ACodedAnswerIsDecodedAndMasked) {
  ask(false, kDeflated + "Content-Length: 11\r\n\r\n" + kDeflatedValue, hiding("value"));
  EXPECT_EQ(at_program().text,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            "6\r\n*****!\r\n0\r\n\r\n");
  EXPECT_EQ(at_program().end, asio::error::eof);
  EXPECT_TRUE(sandbox().verdicts().empty());
}

// The control: nothing is decoded where nothing is masked.
TEST_F(HttpForwardTest, ACodedAnswerPassesWithoutSecrets) {
  ask(false, kDeflated + "Content-Length: 11\r\n\r\n" + kDeflatedValue);
  EXPECT_EQ(at_program().text,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: deflate\r\n"
            "Content-Length: 11\r\n\r\n" +
                kDeflatedValue);
}

TEST_F(HttpForwardTest, AnAnswerOfAnUnknownCodingIsRefused) {
  ask(false, "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nvalue", hiding("value"));
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 502 ")) << at_program().text;
  EXPECT_NE(at_program().text.find("\"reason\":\"encoded_answer\""), std::string::npos);
  ASSERT_EQ(sandbox().verdicts().size(), 1U);
  EXPECT_EQ(sandbox().verdicts().back().reason, "encoded_answer");
}

TEST_F(HttpForwardTest, ACodedAnswerThatBreaksOffDoesNotSeemWhole) {
  ask(false, kDeflated + "\r\n" + kDeflatedValue.substr(0, 10), hiding("value"));
  EXPECT_EQ(at_program().text.find("0\r\n\r\n"), std::string::npos) << at_program().text;
  EXPECT_EQ(at_program().end, asio::error::connection_reset);
  EXPECT_EQ(sandbox().verdicts().size(), 1U);
}

TEST_F(HttpForwardTest, AnAnswerThatCannotBeMaskedFurtherIsBrokenOff) {
  const std::string begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
  ask(false, begin + "0x5\r\nvalue\r\n0\r\n\r\n", hiding("value"));
  EXPECT_EQ(at_program().text.find("value"), std::string::npos);
  EXPECT_EQ(sandbox().verdicts().size(), 1U);
}

TEST_F(HttpForwardTest, AsksForNothingThatCannotBeMasked) {
  ask(true, kAnswer, hiding("value"));
  EXPECT_NE(at_host().text.find("Upgrade: websocket\r\n"), std::string::npos) << at_host().text;
  for (const char* asked : {"permessage-deflate", "Request-Range", "A-IM"})
    EXPECT_EQ(at_host().text.find(asked), std::string::npos) << at_host().text;
}

// The control: they are taken away only where values are masked.
TEST_F(HttpForwardTest, PassesOnWhatIsAskedForWithoutSecrets) {
  ask(false, kAnswer);
  EXPECT_NE(at_host().text.find("Request-Range: bytes=0-3\r\n"), std::string::npos);
}

}  // namespace
}  // namespace sandgate::egress::test
