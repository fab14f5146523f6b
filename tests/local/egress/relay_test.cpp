#include "local/egress/relay.hpp"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/local/egress/one_sandbox.hpp"

namespace sandgate::egress::test {
namespace {

// A relay between a sandbox's program and a host, with the far ends of both in our hand. It works
// only while work() runs.
class RelayTest : public OneSandboxTest {
 protected:
  RelayTest() { restart(); }
  ~RelayTest() override { cut(); }

  // With two new connections.
  void restart() {
    program_ = Socket(loop_);
    host_ = Socket(loop_);
    asio::ip::tcp::acceptor listener(loop_, {asio::ip::address_v4::loopback(), 0});
    program_.connect(listener.local_endpoint());
    auto connection = std::make_shared<Connection>(sandbox_, listener.accept());
    host_.connect(listener.local_endpoint());
    connection->upstream = listener.accept();
    program_.non_blocking(true);
    host_.non_blocking(true);
    spawn_detached(loop_.get_executor(), [connection] { return relay(connection); });
  }
  void cut() {
    sandbox_->close();
    work();
  }

  void work() {
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds(50));
    loop_.poll();  // what is ready though a busy machine has passed the time over
  }
  // What the relay takes from the program before anything else on the loop has its turn, at most.
  int64_t most_in_a_turn() {
    int64_t most = 0;
    loop_.restart();
    for (int64_t before = counted(); loop_.poll_one() > 0; before = counted())
      most = std::max(most, counted() - before);
    return most;
  }

  // Sends until nothing more is taken, whatever the relay does; how much it was.
  size_t send_until_full(Socket& from) {
    size_t all = 0;
    for (int quiet = 0; quiet < 3;) {
      boost::system::error_code full;
      const std::string piece = pattern(all, 60'000);
      const size_t sent = from.write_some(asio::buffer(piece), full);
      all += sent;
      if (sent > 0) continue;
      work();
      pollfd writable{from.native_handle(), POLLOUT, 0};
      quiet = poll(&writable, 1, 0) == 1 ? 0 : quiet + 1;
    }
    return all;
  }

  // Reads what the kernel has on the way; the bytes must be those that send_until_full sends.
  size_t read_all(Socket& to, size_t already) {
    size_t all = already;
    std::string piece(1 << 20, 0);
    for (pollfd readable{to.native_handle(), POLLIN, 0}; poll(&readable, 1, 200) == 1;) {
      const ssize_t got = recv(to.native_handle(), piece.data(), piece.size(), 0);
      if (got <= 0) break;
      EXPECT_EQ(piece.substr(0, static_cast<size_t>(got)), pattern(all, static_cast<size_t>(got)));
      all += static_cast<size_t>(got);
    }
    return all - already;
  }

  Socket& program() { return program_; }
  Socket& host() { return host_; }

 private:
  static std::string pattern(size_t begin, size_t bytes) {
    std::string text(bytes, 0);
    for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((begin + i) * 7 >> 3);
    return text;
  }

  Socket program_{loop_}, host_{loop_};
};

// All that the relay took from the program and counted is found in sockets, so none of it lies in
// the relay; and what is left waits in the program's own.
TEST_F(RelayTest, WhatNobodyReadsWaitsInTheSockets) {
  const size_t sent = send_until_full(program());
  const auto taken = static_cast<size_t>(counted());
  ASSERT_GT(taken, 0u);
  ASSERT_LT(taken, sent) << "the host's sockets are full";
  size_t read = read_all(host(), 0);
  EXPECT_EQ(read, taken);
  for (int round = 0; read < sent && round < 1000; ++round) {
    work();
    read += read_all(host(), read);
  }
  EXPECT_EQ(read, sent) << "and nothing is lost";
  EXPECT_EQ(counted(), static_cast<int64_t>(sent));
}

TEST_F(RelayTest, OneFullWayLeavesTheOtherOpen) {
  const size_t sent = send_until_full(host());
  EXPECT_EQ(host().available(), 0u);
  ASSERT_EQ(program().write_some(asio::buffer("word", 4)), 4u);
  work();
  EXPECT_EQ(host().available(), 4u);
  size_t read = 0;
  for (int round = 0; read < sent && round < 1000; ++round) {
    read += read_all(program(), read);
    work();
  }
  EXPECT_EQ(read, sent);
  EXPECT_EQ(counted(), 4);
}

TEST_F(RelayTest, EndsArriveBehindTheBytes) {
  ASSERT_EQ(program().write_some(asio::buffer("last", 4)), 4u);
  program().shutdown(Socket::shutdown_send);
  work();
  char bytes[8];
  EXPECT_EQ(recv(host().native_handle(), bytes, sizeof bytes, 0), 4);
  EXPECT_EQ(recv(host().native_handle(), bytes, sizeof bytes, 0), 0);
  ASSERT_EQ(host().write_some(asio::buffer("answer", 6)), 6u) << "the other way is still open";
  host().close();
  work();
  EXPECT_EQ(recv(program().native_handle(), bytes, sizeof bytes, 0), 6);
  EXPECT_EQ(recv(program().native_handle(), bytes, sizeof bytes, 0), 0);
}

TEST_F(RelayTest, OthersHaveTheirTurnAfterEachPiece) {
  constexpr int64_t kPiece = 256 << 10;
  boost::system::error_code full;
  const std::string bytes(1 << 16, 'x');
  while (!full) program().write_some(asio::buffer(bytes), full);
  const int64_t most = most_in_a_turn();
  ASSERT_GT(counted(), kPiece) << "there were several pieces";
  EXPECT_LE(most, kPiece);
}

// Or whoever is left would take a part for the whole.
TEST_F(RelayTest, AResetArrivesAsOneBehindTheBytes) {
  for (const bool of_host : {true, false}) {
    SCOPED_TRACE(of_host);
    restart();
    Socket &leaves = of_host ? host() : program(), &stays = of_host ? program() : host();
    ASSERT_EQ(leaves.write_some(asio::buffer("part", 4)), 4u);
    work();
    leaves.set_option(asio::socket_base::linger(true, 0));
    leaves.close();
    work();
    char bytes[8];
    EXPECT_EQ(recv(stays.native_handle(), bytes, sizeof bytes, 0), 4);
    EXPECT_EQ(recv(stays.native_handle(), bytes, sizeof bytes, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
  }
}

TEST_F(RelayTest, WhatArrivedBeforeAResetIsPassedOn) {
  const size_t sent = send_until_full(host());
  int unacknowledged = 0;
  ASSERT_EQ(ioctl(host().native_handle(), SIOCOUTQ, &unacknowledged), 0);
  host().set_option(asio::socket_base::linger(true, 0));
  host().close();
  size_t read = 0;
  ssize_t got = 0;
  std::string piece(1 << 20, 0);
  for (int round = 0; round < 100; ++round) {
    work();
    while ((got = recv(program().native_handle(), piece.data(), piece.size(), 0)) > 0)
      read += static_cast<size_t>(got);
    if (got == 0 || errno != EAGAIN) break;
  }
  EXPECT_EQ(got, -1);
  EXPECT_EQ(errno, ECONNRESET);
  EXPECT_GE(read, sent - static_cast<size_t>(unacknowledged));
}

// Found by sending, the reset is not told to whoever reads from the same socket.
TEST_F(RelayTest, AResetThatIsFoundBySendingArrives) {
  ASSERT_EQ(host().write_some(asio::buffer("part", 4)), 4u);
  host().set_option(asio::socket_base::linger(true, 0));
  host().close();
  ASSERT_EQ(program().write_some(asio::buffer("more", 4)), 4u);
  work();
  char bytes[8];
  EXPECT_EQ(recv(program().native_handle(), bytes, sizeof bytes, 0), 4);
  EXPECT_EQ(recv(program().native_handle(), bytes, sizeof bytes, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(RelayTest, ACutIsAReset) {
  ASSERT_EQ(program().write_some(asio::buffer("part", 4)), 4u);
  work();
  cut();
  for (Socket* const left : {&program(), &host()}) {
    char bytes[8];
    while (recv(left->native_handle(), bytes, sizeof bytes, 0) > 0) continue;
    EXPECT_EQ(errno, ECONNRESET);
  }
}

}  // namespace
}  // namespace sandgate::egress::test
