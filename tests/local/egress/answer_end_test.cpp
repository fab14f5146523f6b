// How a client's connection ends when it is answered before it has sent everything.
#include "tests/local/egress/http_forward_fixture.hpp"

namespace sandgate::egress::test {
namespace {

class AnswerEnd : public HttpForwardTest {
 protected:
  static RequestHead upload() {
    RequestHead head = kPlainRequest;
    head.method = "POST";
    head.body = BodyKind::sized;
    head.body_bytes = kBody;
    head.fields.push_back({"Content-Length", std::to_string(kBody)});
    return head;
  }
  // A program that sends the whole body before it reads anything.
  Task<void> send_all() {
    const std::string body(kBody, 'x');
    auto [failure, bytes] = co_await asio::async_write(program(), asio::buffer(body),
                                                       asio::as_tuple(asio::use_awaitable));
    EXPECT_FALSE(failure) << failure.message();
    auto talking = talk("", "", false);
    co_await std::move(talking);
  }
  static constexpr size_t kBody = 20 << 20;
};

TEST_F(AnswerEnd, AnEarlyAnswerReachesAClientThatStillSends) {
  exchange(
      upload(), Redactor(), [&] { return send_all(); },
      [&] { return serve("\r\n\r\n", kAnswer, true); });
  EXPECT_EQ(at_program().text, kPassedAnswer);
  EXPECT_EQ(at_program().end, asio::error::eof);
  EXPECT_EQ(at_host().end, asio::error::connection_reset) << "it has not got the whole body";
}

TEST_F(AnswerEnd, ARefusalReachesAClientThatStillSends) {
  exchange(
      upload(), Redactor(), [&] { return send_all(); },
      [&] { return serve("\r\n\r\n", "HTTP/1.1 101 Other\r\n\r\n", false); });
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 502 ")) << at_program().text;
  EXPECT_EQ(at_program().end, asio::error::eof);
}

// What it says behind its request is for nobody, but it gets its answer.
TEST_F(AnswerEnd, AnAnswerReachesAClientThatSaysMore) {
  const std::string big = "HTTP/1.1 200 OK\r\n\r\n" + std::string(8 << 20, 'x');
  exchange(
      kPlainRequest, Redactor(), [&] { return talk("GET /next HTTP/1.1\r\n\r\n", "", false); },
      [&] { return serve("\r\n\r\n", big, true); });
  EXPECT_EQ(at_program().text.size(), big.size() + std::string("Connection: close\r\n").size());
  EXPECT_EQ(at_program().end, asio::error::eof);
  EXPECT_EQ(at_host().text.find("/next"), std::string::npos);
}

// Its request waits for an answer that never comes.
TEST_F(AnswerEnd, NothingIsLeftOfASwitchThatBreaksOff) {
  RequestHead head = kPlainRequest;
  head.upgrade = true;
  Redactor redactor({std::make_shared<const Needle>(Secret("value"))});
  exchange(
      head, std::move(redactor), [&] { return talk("", "", false); },
      [&] { return serve("\r\n\r\n", "HTTP/1.1 101 Switching\r\nX: a\r\n b", true); });
  EXPECT_TRUE(at_program().text.starts_with("HTTP/1.1 502 ")) << at_program().text;
  EXPECT_EQ(sandbox().verdicts().back().reason, "malformed_answer");
}

}  // namespace
}  // namespace sandgate::egress::test
