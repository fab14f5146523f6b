#include <gtest/gtest.h>

#include <thread>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include "gateway/cli/terminal_session.hpp"

namespace sandgate::cli {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// A gateway with one terminal, whose program greets and ends with 5.
class GreetingTerminal {
 public:
  GreetingTerminal()
      : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}), thread_([this] { serve(); }) {}
  ~GreetingTerminal() { thread_.join(); }

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  void serve() {
    boost::beast::websocket::stream<tcp::socket> socket(acceptor_.accept());
    socket.accept();
    socket.binary(true);
    socket.write(asio::buffer(std::string("\1hello\n")));
    socket.text(true);
    socket.write(asio::buffer(std::string(R"({"type":"exit","exit_code":5})")));
    boost::beast::flat_buffer rest;
    boost::system::error_code gone;
    while (!gone) socket.read(rest, gone);
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::thread thread_;
};

TEST(TerminalSession, ShowsWhatTheProgramWritesAndEndsAsItDoes) {
  GreetingTerminal terminal;
  const Client client(terminal.url(), Secret("sg_test"), "");

  testing::internal::CaptureStdout();
  const int exit_code = run_terminal(client, "/v1/sandboxes/sb1/terminal");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello\n");
  EXPECT_EQ(exit_code, 5);
}

}  // namespace
}  // namespace sandgate::cli
