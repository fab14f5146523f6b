#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include "gateway/cli/terminal/terminal_session.hpp"

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

// A socket on which no change of the window's size gets through before it is released. The
// program ends with the input.
class HeldUpSocket : public WebSocket {
 public:
  explicit HeldUpSocket(asio::io_context& io)
      : step_(io, asio::steady_timer::time_point::max()), poll_(io) {}

  Task<std::optional<Message>> read() override {
    while (!input_ended_) co_await step_.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return Message{true, R"({"type":"exit","exit_code":0})"};
  }

  Task<void> write(Message message) override {
    EXPECT_FALSE(std::exchange(writing_, true)) << "two writes at a time";
    const bool is_resize = message.text && message.bytes.find("resize") != std::string::npos;
    if (is_resize) resizing_ = true;
    while (is_resize && !released_) {
      poll_.expires_after(std::chrono::milliseconds(1));
      co_await poll_.async_wait(asio::use_awaitable);
    }
    if (!message.text) input_ += message.bytes.substr(1);
    input_ended_ = message.text && message.bytes.find("close_stdin") != std::string::npos;
    writing_ = false;
    if (input_ended_) step_.cancel();
  }

  const std::string& protocol() const override { return protocol_; }
  Task<void> close() override { co_return; }

  bool is_resizing() const { return resizing_; }
  void release() { released_ = true; }
  const std::string& input() const { return input_; }

 private:
  asio::steady_timer step_, poll_;
  bool writing_ = false, input_ended_ = false;
  std::atomic<bool> resizing_{false}, released_{false};
  std::string input_, protocol_;
};

// A socket whose program writes a lot at once, and ends.
class FloodingSocket : public WebSocket {
 public:
  explicit FloodingSocket(std::string output) : output_(std::move(output)) {}

  Task<std::optional<Message>> read() override {
    co_await asio::post(asio::use_awaitable);  // input is waited for by then
    if (!std::exchange(written_, true)) co_return Message{false, '\1' + output_};
    co_return Message{true, R"({"type":"exit","exit_code":0})"};
  }
  Task<void> write(Message) override { co_return; }
  const std::string& protocol() const override { return protocol_; }
  Task<void> close() override { co_return; }

 private:
  std::string output_, protocol_;
  bool written_ = false;
};

// A socket whose program writes a word and does not end.
class WaitingSocket : public WebSocket {
 public:
  explicit WaitingSocket(asio::io_context& io)
      : never_(io, asio::steady_timer::time_point::max()) {}

  Task<std::optional<Message>> read() override {
    if (!std::exchange(written_, true)) co_return Message{false, "\1word"};
    co_await never_.async_wait(asio::use_awaitable);
    co_return std::nullopt;
  }
  Task<void> write(Message) override { co_return; }
  const std::string& protocol() const override { return protocol_; }
  Task<void> close() override { co_return; }

 private:
  asio::steady_timer never_;
  std::string protocol_;
  bool written_ = false;
};

// A terminal in place of standard input, and for standard output a pipe.
class OwnTerminal {
 public:
  OwnTerminal() {
    EXPECT_EQ(::openpty(&user_, &terminal_, nullptr, nullptr, nullptr), 0);
    EXPECT_EQ(::pipe(output_), 0);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) before_[fd] = ::dup(fd);
    ::dup2(terminal_, STDIN_FILENO);
    ::dup2(output_[1], STDOUT_FILENO);
  }
  ~OwnTerminal() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(before_[fd], fd);
    for (const int fd : {user_, terminal_, output_[0], output_[1], before_[0], before_[1]})
      ::close(fd);
  }

  // Whoever reads what goes into the pipe leaves.
  void close_reader() { ::close(std::exchange(output_[0], -1)); }
  int reader() const { return output_[0]; }
  // Whether lines are edited and shown.
  bool is_as_before() const {
    termios mode{};
    ::tcgetattr(terminal_, &mode);
    return (mode.c_lflag & ICANON) && (mode.c_lflag & ECHO) &&
           (::fcntl(terminal_, F_GETFL) & O_NONBLOCK) == 0;
  }

 private:
  int user_ = -1, terminal_ = -1;
  int output_[2] = {-1, -1}, before_[2] = {-1, -1};
};

TEST(TerminalSession, LeavesTheTerminalAsItWasWhenNobodyReadsTheOutput) {
  OwnTerminal terminal;
  terminal.close_reader();
  asio::io_context io;
  WaitingSocket socket(io);
  EXPECT_EQ(run_terminal(io, socket), 128 + SIGPIPE);
  EXPECT_TRUE(terminal.is_as_before());
}

TEST(TerminalSession, LeavesTheTerminalAsItWasWhenASignalEndsIt) {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM}) {
    OwnTerminal terminal;
    asio::io_context io;
    WaitingSocket socket(io);
    std::thread other([&] {
      char word[4];
      EXPECT_EQ(::read(terminal.reader(), word, sizeof word), 4) << "it shows what comes";
      EXPECT_FALSE(terminal.is_as_before());
      ::kill(::getpid(), number);
    });
    EXPECT_EQ(run_terminal(io, socket), 128 + number);
    other.join();
    EXPECT_TRUE(terminal.is_as_before());
  }
}

// As in a terminal, where input and output are one file, which is read without blocking.
TEST(TerminalSession, WaitsForASlowTerminalAndLeavesItAsItWas) {
  const std::string output(4u << 20, 'x');
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const int input_before = ::dup(STDIN_FILENO), output_before = ::dup(STDOUT_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::dup2(ends[0], STDOUT_FILENO);
  size_t shown = 0;
  std::thread user([&] {
    char piece[1000];
    for (ssize_t got; (got = ::read(ends[1], piece, sizeof piece)) > 0;)
      shown += static_cast<size_t>(got);
  });

  asio::io_context io;
  FloodingSocket socket(output);
  const int exit_code = run_terminal(io, socket);

  ::dup2(input_before, STDIN_FILENO);
  ::dup2(output_before, STDOUT_FILENO);
  const int flags = ::fcntl(ends[0], F_GETFL);
  for (const int done : {input_before, output_before, ends[0]}) ::close(done);
  user.join();
  ::close(ends[1]);
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(shown, output.size());
  EXPECT_EQ(flags & O_NONBLOCK, 0);
}

// Writes what the other end takes, until it takes nothing for a while or has taken it all. Returns
// how much that was.
size_t write_while_taken(int fd, std::string_view bytes) {
  constexpr int kTimeout = 500;
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  size_t taken = 0;
  pollfd end{fd, POLLOUT, 0};
  while (taken < bytes.size() && ::poll(&end, 1, kTimeout) == 1)
    taken += static_cast<size_t>(
        std::max<ssize_t>(0, ::write(fd, bytes.data() + taken, bytes.size() - taken)));
  return taken;
}

TEST(TerminalSession, ReadsNoInputWhileItCannotSend) {
  std::string input;
  for (int line = 0; input.size() < (4u << 20); ++line) input += std::to_string(line) + '\n';
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  asio::io_context io;
  HeldUpSocket socket(io);
  size_t taken = 0;
  std::thread user([&] {
    while (!socket.is_resizing()) {
      ::kill(::getpid(), SIGWINCH);  // ignored before somebody waits for it
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    taken = write_while_taken(ends[1], input);
    socket.release();
    write_while_taken(ends[1], std::string_view(input).substr(taken));
    ::close(ends[1]);
  });
  const int before = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  EXPECT_EQ(run_terminal(io, socket), 0);
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  user.join();
  EXPECT_LT(taken, 1u << 20);
  EXPECT_EQ(socket.input(), input);
}

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
