#pragma once
#include <gtest/gtest.h>

#include <thread>

#include "local/egress/http_forward.hpp"
#include "tests/local/egress/one_sandbox.hpp"

namespace sandgate::egress::test {

using boost::system::error_code;
// A host's answer, and as it is passed on.
inline const std::string kAnswer = "HTTP/1.1 200 OK\r\n\r\nhalf";
inline const std::string kPassedAnswer = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf";
inline const std::string kLastChunk = "0\r\n\r\n";
inline const RequestHead kPlainRequest{
    .method = "GET", .target = "/", .fields = {{"Host", "a.example"}}};
enum class End { orderly, reset };

// A request forwarded between two connections, with the far ends of both in our hand.
class HttpForwardTest : public OneSandboxTest {
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
    program_.close();
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
      co_await asio::async_write(host_, asio::buffer(answer), asio::as_tuple(asio::use_awaitable));
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
  Socket program_{loop_}, host_{loop_};
  Heard at_program_, at_host_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace sandgate::egress::test
