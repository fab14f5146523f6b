#include "gateway/ports/app_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/support/code_of.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::code_of;
using sandgate::test::run;

// A connection whose program has written "more", and which was given up while nothing waited.
struct GivenUp {
  GivenUp() {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no sockets");
    made.socket = StreamSocket(ends[0]);
    program = StreamSocket(ends[1]);
    if (::write(program.get(), "more", 4) != 4) throw std::runtime_error("nothing written");
  }
  std::unique_ptr<AppConnection> connect(asio::any_io_executor executor) {
    auto app = std::make_unique<AppConnection>(std::move(executor), "key", std::move(made));
    app->give_up();
    return app;
  }

  PortConnection made;
  StreamSocket program;
};

Task<void> read_from(GivenUp& sockets) {
  const auto app = sockets.connect(co_await asio::this_coro::executor);
  co_await app->read();
}

Task<void> write_to(GivenUp& sockets) {
  const auto app = sockets.connect(co_await asio::this_coro::executor);
  const std::array<asio::const_buffer, 1> buffers{asio::buffer("data", 4)};
  co_await app->write(buffers);
}

Task<bool> is_stale(GivenUp& sockets) {
  const auto app = sockets.connect(co_await asio::this_coro::executor);
  co_return app->stale();
}

// A program that never pauses would otherwise go on through a port that was closed.
TEST(AppConnection, OnceGivenUpPassesNothingMore) {
  GivenUp read, written;
  EXPECT_EQ(code_of(read_from(read)), ErrorCode::timeout);
  EXPECT_EQ(code_of(write_to(written)), ErrorCode::timeout);
}

TEST(AppConnection, OnceGivenUpServesNoOtherRequest) {
  GivenUp sockets;
  char taken[4];
  ASSERT_EQ(::recv(sockets.made.socket.get(), taken, sizeof taken, 0), 4);
  EXPECT_TRUE(run(is_stale(sockets)));
}

}  // namespace
}  // namespace sandgate::ports::test
