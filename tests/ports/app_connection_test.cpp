#include "gateway/ports/app_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/support/code_of.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::code_of;
using sandgate::test::run;

// Both ends of a connection over which the program has written "more".
struct Ends {
  Ends() {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no sockets");
    made.socket = StreamSocket(ends[0]);
    program = StreamSocket(ends[1]);
    if (::write(program.get(), "more", 4) != 4) throw std::runtime_error("nothing written");
  }
  // The gateway's end, given up while nothing waits.
  std::unique_ptr<AppConnection> given_up(asio::any_io_executor executor) {
    auto app = std::make_unique<AppConnection>(std::move(executor), "key", std::move(made));
    app->give_up();
    return app;
  }

  PortConnection made;
  StreamSocket program;
};

Task<void> read_from(Ends& sockets) {
  const auto app = sockets.given_up(co_await asio::this_coro::executor);
  co_await app->read();
}

Task<void> write_to(Ends& sockets) {
  const auto app = sockets.given_up(co_await asio::this_coro::executor);
  const std::array<asio::const_buffer, 1> buffers{asio::buffer("data", 4)};
  co_await app->write(buffers);
}

Task<bool> is_stale(Ends& sockets) {
  const auto app = sockets.given_up(co_await asio::this_coro::executor);
  co_return app->stale();
}

// Reads until the program is heard no more.
Task<bool> ends_broken(PortConnection made) {
  AppConnection app(co_await asio::this_coro::executor, "key", std::move(made));
  for (;;) {
    const size_t got = co_await app.read();
    if (got == 0) co_return app.broken();
  }
}

// A program that never pauses would otherwise go on through a port that was closed.
TEST(AppConnection, OnceGivenUpPassesNothingMore) {
  Ends read, written;
  EXPECT_EQ(code_of(read_from(read)), ErrorCode::timeout);
  EXPECT_EQ(code_of(write_to(written)), ErrorCode::timeout);
}

TEST(AppConnection, OnceGivenUpServesNoOtherRequest) {
  Ends sockets;
  char taken[4];
  ASSERT_EQ(::recv(sockets.made.socket.get(), taken, sizeof taken, 0), 4);
  EXPECT_TRUE(run(is_stale(sockets)));
}

TEST(AppConnection, TellsABrokenConnectionFromAClosedOne) {
  Ends closed, broken;
  ::close(closed.program.release());
  EXPECT_FALSE(run(ends_broken(std::move(closed.made))));
  // A program that closes without having read what it was sent.
  ASSERT_EQ(::write(broken.made.socket.get(), "ask", 3), 3);
  ::close(broken.program.release());
  EXPECT_TRUE(run(ends_broken(std::move(broken.made))));
}

}  // namespace
}  // namespace sandgate::ports::test
