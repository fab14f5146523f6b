#include "local/egress/socket_buffers.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "local/egress/dial.hpp"
#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

using sandgate::test::TempDirectory;

constexpr size_t kMaxBuffered = 256 << 10;
constexpr int kBigBuffer = 200 << 10, kLimitedBuffer = 64 << 10;  // the kernel doubles both

// A sandbox whose connections may hold kMaxBuffered. The far ends of the connections are in our
// hand.
class SocketBuffersTest : public ::testing::Test {
 protected:
  using ConnectionPtr = std::shared_ptr<Connection>;

  SocketBuffersTest() {
    NetworkPolicy open;
    open.fallback = NetworkDefault::allow;
    Fd count = open_byte_count(directory_.path() + "/count");
    sandbox_ =
        std::make_shared<EgressSandbox>(services_, "sb1", "tn1", Policy(open), std::move(count));
    sandbox_->open({});
  }
  ~SocketBuffersTest() override {
    sandbox_->close();
    loop_.poll();
  }

  ConnectionPtr dialled() {
    const auto connection = std::make_shared<Connection>(sandbox_, Socket(loop_));
    std::string reason = "nothing";
    spawn_detached(loop_.get_executor(), [this, connection, &reason]() -> Task<void> {
      auto dialling = dial(connection, {"127.0.0.1", listener_.local_endpoint().port()});
      reason = std::string(co_await std::move(dialling));
    });
    run_until([&] { return reason != "nothing"; });
    EXPECT_EQ(reason, "");
    hosts_.push_back(listener_.accept());
    hosts_.back().non_blocking(true);
    return connection;
  }
  // What the last host sends until nothing more is taken.
  void flood() {
    const std::string piece(64 << 10, 'x');
    boost::system::error_code full;
    while (!full) hosts_.back().write_some(asio::buffer(piece), full);
  }
  static void read_all(Socket& from) {
    std::string piece(1 << 20, 0);
    while (recv(from.native_handle(), piece.data(), piece.size(), MSG_DONTWAIT) > 0) continue;
  }
  static int buffer_of(Socket& socket) {
    asio::socket_base::receive_buffer_size size;
    socket.get_option(size);
    return size.value();
  }
  void run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    loop_.restart();
    while (!done() && std::chrono::steady_clock::now() < end)
      loop_.run_one_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(done());
  }

  EgressSandbox& sandbox() { return *sandbox_; }

 private:
  TempDirectory directory_;
  asio::io_context loop_{1};
  asio::ip::tcp::acceptor listener_{loop_, {asio::ip::address_v4::loopback(), 0}};
  std::list<Socket> hosts_;
  FairResolver resolver_{loop_, {.threads = 1}};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  Services services_{
      loop_, resolver_,   std::make_shared<DescriptorQuota>(1024), AddressPolicy({"127.0.0.0/8"}),
      tls_,  kMaxBuffered};
  std::shared_ptr<EgressSandbox> sandbox_;
};

TEST_F(SocketBuffersTest, ConnectionsThatHoldTooMuchAreLimitedUntilTheyHoldLess) {
  const ConnectionPtr hoards = dialled();
  hoards->upstream.set_option(asio::socket_base::receive_buffer_size(kBigBuffer));
  run_until([&] {
    flood();
    return sandbox().has_limited_buffers();
  });
  EXPECT_GT(buffered_bytes(hoards->upstream), kMaxBuffered);
  EXPECT_EQ(buffer_of(hoards->upstream), kLimitedBuffer);
  const ConnectionPtr late = dialled();
  EXPECT_EQ(buffer_of(late->upstream), kLimitedBuffer);
  read_all(hoards->upstream);
  run_until([&] { return !sandbox().has_limited_buffers(); });
  int locked = -1;
  socklen_t size = sizeof locked;
  getsockopt(late->upstream.native_handle(), SOL_SOCKET, SO_BUF_LOCK, &locked, &size);
  EXPECT_EQ(locked, 0);
}

TEST_F(SocketBuffersTest, ALimitedSocketTakesNoMoreThanItMay) {
  const ConnectionPtr one = dialled();
  one->upstream.set_option(asio::socket_base::receive_buffer_size(kBigBuffer));
  limit_buffers(one->upstream);
  flood();
  EXPECT_GT(buffered_bytes(one->upstream), 0u);
  EXPECT_LE(buffered_bytes(one->upstream), kMaxBuffered);
}

TEST_F(SocketBuffersTest, AClosedSocketHoldsNothing) {
  const ConnectionPtr one = dialled();
  one->close();
  one->set_buffers(true);
  EXPECT_EQ(buffered_bytes(one->upstream), 0u);
}

}  // namespace
}  // namespace sandgate::egress::test
