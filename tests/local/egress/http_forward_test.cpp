#include "local/egress/http_forward.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

using boost::system::error_code;
using sandgate::test::TempDirectory;

const std::string kAnswer = "HTTP/1.1 200 OK\r\n\r\nhalf";
const std::string kLastChunk = "0\r\n\r\n";
const RequestHead kPlainRequest{.method = "GET", .target = "/", .fields = {{"Host", "a.example"}}};
enum class End { orderly, reset };

// A request forwarded between two connections, with the far ends of both in our hand.
class HttpForwardTest : public ::testing::Test {
 protected:
  HttpForwardTest() {
    asio::ip::tcp::acceptor listener(loop_, {asio::ip::address_v4::loopback(), 0});
    program_.connect(listener.local_endpoint());
    connection_ = std::make_shared<Connection>(sandbox_, listener.accept());
    host_.connect(listener.local_endpoint());
    connection_->upstream = listener.accept();
  }
  ~HttpForwardTest() override {
    connection_.reset();
    sandbox_->close();
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds(50));
  }

  // Answers and ends so; `read` reads at the client until its connection ends, by what it returns.
  error_code end_at_client(Stream& client, End end, const std::function<error_code()>& read) {
    PlainStream upstream(connection_->upstream);
    error_code failure;
    const auto work = asio::make_work_guard(loop_);
    int running = 2;  // on the loop: the reader's end and the forwarding, which uses what is here
    const auto end_one = [&] {
      if (--running == 0) loop_.stop();
    };
    std::thread far([&] {
      failure = read();
      asio::post(loop_, end_one);
    });
    spawn_detached(loop_.get_executor(), [&]() -> Task<void> {
      std::array<char, 1024> request;
      co_await host_.async_read_some(asio::buffer(request), asio::use_awaitable);
      asio::write(host_, asio::buffer(kAnswer));
      co_await sleep_for(std::chrono::milliseconds(100));
      host_.set_option(asio::socket_base::linger(end == End::reset, 0));
      host_.close();
    });
    spawn_detached(loop_.get_executor(), [&]() -> Task<void> {
      auto accepting = ready(client);
      co_await std::move(accepting);
      auto forwarding = forward(connection_, client, upstream, kPlainRequest, "", Redactor());
      co_await std::move(forwarding);
      end_one();
    });
    loop_.run_for(std::chrono::seconds(10));
    far.join();
    EXPECT_EQ(running, 0);
    return failure;
  }

  // What one side has received, and how its connection ended.
  struct Heard {
    std::string text;
    error_code end;
  };
  // Forwards a request in chunks. The program sends `chunks`, then `more` once it has received
  // something; with nothing more to send, it ends its sending direction if it `leaves`. The host
  // answers when it has received what ends with `until`, and has said all if that is a whole body.
  void exchange(std::string chunks, std::string more, bool leaves, std::string until) {
    RequestHead head{.method = "POST",
                     .target = "/",
                     .fields = {{"Host", "a.example"}, {"Transfer-Encoding", "chunked"}},
                     .body = BodyKind::chunked};
    exchange(
        std::move(head), Redactor(), [&] { return talk(chunks, more, leaves); },
        [&] { return serve(until, kAnswer, until == kLastChunk); });
  }
  // Forwards a request without a body, which the host answers with all that it says.
  void ask(bool upgrade, std::string answer, Redactor redactor = Redactor()) {
    RequestHead head{.method = "GET",
                     .target = "/",
                     .fields = {{"Host", "a.example"},
                                {"Sec-WebSocket-Extensions", "permessage-deflate"},
                                {"Request-Range", "bytes=0-3"},
                                {"A-IM", "range"}}};
    head.upgrade = upgrade;
    exchange(
        std::move(head), std::move(redactor), [&] { return talk("", "", false); },
        [&] { return serve("\r\n\r\n", answer, true); });
  }
  void exchange(RequestHead head, Redactor redactor, std::function<Task<void>()> program,
                std::function<Task<void>()> host) {
    PlainStream client(connection_->client);
    exchange(client, std::move(head), std::move(redactor), std::move(program), std::move(host));
  }
  void exchange(Stream& client, RequestHead head, Redactor redactor,
                std::function<Task<void>()> program, std::function<Task<void>()> host) {
    connection_->target = Target{"a.example", 80};
    PlainStream upstream(connection_->upstream);
    int running = 3;
    const auto start = [&](std::function<Task<void>()> make) {
      spawn_detached(loop_.get_executor(), [this, make, &running]() -> Task<void> {
        auto work = make();
        co_await std::move(work);
        if (--running == 0) loop_.stop();
      });
    };
    start(program);
    start(host);
    start([&]() -> Task<void> {
      auto accepting = ready(client);
      co_await std::move(accepting);
      auto forwarding =
          forward(connection_, client, upstream, std::move(head), "", std::move(redactor));
      co_await std::move(forwarding);
    });
    loop_.run_for(std::chrono::seconds(10));
    ASSERT_EQ(running, 0);
  }
  Task<void> talk(std::string chunks, std::string more, bool leaves) {
    asio::write(program_, asio::buffer(chunks));
    if (leaves) program_.shutdown(Socket::shutdown_send);
    while (!at_program_.end) {
      auto hearing = hear(program_, at_program_);
      co_await std::move(hearing);
      if (!at_program_.end) asio::write(program_, asio::buffer(std::exchange(more, "")));
    }
  }
  Task<void> leave() {
    program_.set_option(asio::socket_base::linger(true, 0));
    program_.close();
    co_return;
  }
  Task<void> leave_by_tls() {
    constexpr auto kDone = asio::as_tuple(asio::use_awaitable);
    asio::ssl::context context(asio::ssl::context::tls_client);
    asio::ssl::stream<Socket&> tls(program_, context);
    co_await tls.async_handshake(asio::ssl::stream_base::client, kDone);
    co_await tls.async_shutdown(kDone);
  }
  Task<void> serve(std::string until, std::string answer, bool says_all) {
    while (!at_host_.end) {
      auto hearing = hear(host_, at_host_);
      co_await std::move(hearing);
      if (at_host_.end || !at_host_.text.ends_with(until)) continue;
      asio::write(host_, asio::buffer(answer));
      if (says_all) host_.shutdown(Socket::shutdown_send);
    }
  }
  static Task<void> hear(Socket& socket, Heard& heard) {
    std::array<char, 1024> part;
    auto [failure, bytes] =
        co_await socket.async_read_some(asio::buffer(part), asio::as_tuple(asio::use_awaitable));
    heard.text.append(part.data(), bytes);
    heard.end = failure;
  }

  static Task<void> ready(Stream& client) {
    auto* tls = dynamic_cast<TlsStream*>(&client);
    if (!tls) co_return;
    auto accepting = tls->accept();
    const bool accepted = co_await std::move(accepting);
    EXPECT_TRUE(accepted);
  }

  Socket& program() { return program_; }
  Connection& connection() { return *connection_; }
  EgressSandbox& sandbox() { return *sandbox_; }
  const Heard& at_program() const { return at_program_; }
  const Heard& at_host() const { return at_host_; }

 private:
  TempDirectory directory_;
  asio::io_context loop_{1};
  FairResolver resolver_{loop_, {.threads = 1}};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  Services services_{loop_, resolver_, std::make_shared<DescriptorQuota>(1024), AddressPolicy(),
                     tls_};
  std::shared_ptr<EgressSandbox> sandbox_ = std::make_shared<EgressSandbox>(
      services_, "sb1", "tn1", Policy(), open_byte_count(directory_.path() + "/count"));
  Socket program_{loop_}, host_{loop_};
  Heard at_program_, at_host_;
  std::shared_ptr<Connection> connection_;
};

template <class From>
error_code read_answer(From& from) {
  std::string heard;
  error_code failure;
  asio::read(from, asio::dynamic_buffer(heard), failure);
  EXPECT_EQ(heard, kAnswer);
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
  EXPECT_EQ(at_program().text, kAnswer);
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
  EXPECT_EQ(at_program().text, kAnswer);
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
  EXPECT_EQ(at_program().text, kAnswer);
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
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n*****!\r\n0\r\n\r\n");
  EXPECT_EQ(at_program().end, asio::error::eof);
  EXPECT_TRUE(sandbox().verdicts().empty());
}

// The control: nothing is decoded where nothing is masked.
TEST_F(HttpForwardTest, ACodedAnswerPassesWithoutSecrets) {
  const std::string answer = kDeflated + "Content-Length: 11\r\n\r\n" + kDeflatedValue;
  ask(false, answer);
  EXPECT_EQ(at_program().text, answer);
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
