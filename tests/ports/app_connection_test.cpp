#include "gateway/ports/app_connection.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

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
    made.socket = Fd(ends[0]);
    program = Fd(ends[1]);
    if (::write(program.get(), "more", 4) != 4) throw std::runtime_error("nothing written");
  }
  // The gateway's end, given up while nothing waits.
  std::unique_ptr<AppConnection> given_up(asio::any_io_executor executor) {
    auto app = std::make_unique<AppConnection>(std::move(executor), "key", std::move(made));
    app->cancel();
    return app;
  }

  PortConnection made;
  Fd program;
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

// Reads a whole buffer, so that more may be there at once, then waits on a socket made blocking.
Task<void> wait_on_blocking(PortConnection made, int shared) {
  const auto executor = co_await asio::this_coro::executor;
  AppConnection app(executor, "key", std::move(made));
  while (!app.full()) co_await app.read();
  app.consume(AppConnection::kBufferBytes);
  EXPECT_EQ(::fcntl(shared, F_SETFL, ::fcntl(shared, F_GETFL) & ~O_NONBLOCK), 0);
  asio::steady_timer timer(executor, std::chrono::milliseconds(20));
  timer.async_wait([&](const auto&) { app.cancel(); });
  co_await app.read();
}

// The sandbox may have the same socket, and whoever blocks the gateway's loop stops everybody.
TEST(AppConnection, ASocketThatWasMadeBlockingBlocksNobody) {
  Ends sockets;
  const int shared = ::dup(sockets.made.socket.get());
  const timeval patience{10, 0};  // of a receive that blocks
  ASSERT_EQ(::setsockopt(shared, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  const std::string rest(AppConnection::kBufferBytes - 4, 'x');
  ASSERT_EQ(::write(sockets.program.get(), rest.data(), rest.size()),
            static_cast<ssize_t>(rest.size()));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(wait_on_blocking(std::move(sockets.made), shared)), ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  ::close(shared);
}

// A program that never pauses would otherwise go on through a port that was closed.
TEST(AppConnection, OnceCancelledPassesNothingMore) {
  Ends read, written;
  EXPECT_EQ(code_of(read_from(read)), ErrorCode::timeout);
  EXPECT_EQ(code_of(write_to(written)), ErrorCode::timeout);
}

TEST(AppConnection, OnceCancelledServesNoOtherRequest) {
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
