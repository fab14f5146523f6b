#include "local/egress/http_forward.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

using boost::system::error_code;
using sandgate::test::TempDirectory;

const std::string kAnswer = "HTTP/1.1 200 OK\r\n\r\nhalf";
enum class End { orderly, reset };

// A request forwarded between two connections, with the far ends of both in our hand.
class HttpForwardTest : public ::testing::Test {
 protected:
  HttpForwardTest() {
    asio::ip::tcp::acceptor door(loop_, {asio::ip::address_v4::loopback(), 0});
    program_.connect(door.local_endpoint());
    connection_ = std::make_shared<Connection>(box_, door.accept());
    host_.connect(door.local_endpoint());
    connection_->upstream = door.accept();
  }
  ~HttpForwardTest() override {
    connection_.reset();
    box_->close();
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds(50));
  }

  // Answers and ends so; `read` reads at the client until its connection ends, by what it returns.
  error_code end_at_client(Stream& client, End end, const std::function<error_code()>& read) {
    PlainStream upstream(connection_->upstream);
    error_code failure;
    std::thread far([&] {
      failure = read();
      asio::post(loop_, [this] { loop_.stop(); });
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
      RequestHead head{.method = "GET", .target = "/", .fields = {{"Host", "a.example"}}};
      auto forwarding = forward(connection_, client, upstream, std::move(head), "", Mask());
      co_await std::move(forwarding);
    });
    loop_.run_for(std::chrono::seconds(10));
    far.join();
    return failure;
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
  Box& box() { return *box_; }

 private:
  TempDirectory directory_;
  asio::io_context loop_{1};
  Lookups lookups_{loop_, {.threads = 1}};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  Surroundings around_{loop_, lookups_, std::make_shared<DescriptorRoom>(1024), Reachable(), tls_};
  std::shared_ptr<Box> box_ = std::make_shared<Box>(around_, "sb1", "tn1", Policy(),
                                                    open_byte_count(directory_.path() + "/count"));
  Socket program_{loop_}, host_{loop_};
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
  TlsStream client(connection().client, box().authority().context_for("a.example"));
  EXPECT_EQ(end_at_client(client, End::orderly, [&] { return read_by_tls(program()); }),
            asio::error::eof);
}

TEST_F(HttpForwardTest, OverTlsTheEndIsNotToldOfWhatBreaksOff) {
  TlsStream client(connection().client, box().authority().context_for("a.example"));
  EXPECT_EQ(end_at_client(client, End::reset, [&] { return read_by_tls(program()); }),
            asio::ssl::error::stream_truncated);
}

}  // namespace
}  // namespace sandgate::egress::test
