#include "local/egress/dial.hpp"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

using sandgate::test::TempDirectory;
using Acceptor = asio::ip::tcp::acceptor;

// A sandbox that dials names of this machine's addresses.
class DialTest : public ::testing::Test {
 protected:
  DialTest() {
    NetworkPolicy open;
    open.fallback = NetworkDefault::allow;
    Fd count = open_byte_count(directory_.path() + "/count");
    sandbox_ =
        std::make_shared<EgressSandbox>(services_, "sb1", "tn1", Policy(open), std::move(count));
  }
  ~DialTest() override {
    sandbox_->close();
    loop_.poll();
  }

  // What dialling a name of these addresses comes to; empty: the resolver fails.
  std::string dialled(std::optional<Addresses> addresses, uint16_t port) {
    found_ = std::move(addresses);
    std::string reason = "nothing";
    connection_ = std::make_shared<Connection>(sandbox_, Socket(loop_));
    spawn_detached(loop_.get_executor(), [this, port, &reason]() -> Task<void> {
      auto dialling = dial(connection_, {"name.example", port});
      reason = std::string(co_await std::move(dialling));
      loop_.stop();
    });
    loop_.restart();
    loop_.run_for(std::chrono::seconds(30));
    return reason;
  }

  // Of the connection that was dialled last.
  int upstream() const { return connection_->upstream.native_handle(); }

  // Listens, takes nobody, and answers nobody whom its queue has no place for.
  std::unique_ptr<Acceptor> silent(const asio::ip::address& address, uint16_t port) {
    auto listener = std::make_unique<Acceptor>(loop_, asio::ip::tcp::v4());
    listener->set_option(Acceptor::reuse_address(true));
    listener->bind({address, port});
    listener->listen(0);
    for (int i = 0; i < 4; ++i) {
      auto& one = fillers_.emplace_back(loop_, asio::ip::tcp::v4());
      one.native_non_blocking(true);
      const asio::ip::tcp::endpoint endpoint(address, port);
      connect(one.native_handle(), endpoint.data(), static_cast<socklen_t>(endpoint.size()));
    }
    return listener;
  }
  Acceptor open_listener() { return {loop_, {asio::ip::address_v4::loopback(), 0}}; }

 private:
  TempDirectory directory_;
  asio::io_context loop_{1};
  std::optional<Addresses> found_;
  std::list<Socket> fillers_;
  FairResolver resolver_{loop_, {.threads = 1}, [this](const std::string&) { return found_; }};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  Services services_{loop_, resolver_, std::make_shared<DescriptorQuota>(1024),
                     AddressPolicy({"127.0.0.0/8"}), tls_};
  std::shared_ptr<EgressSandbox> sandbox_;
  std::shared_ptr<Connection> connection_;
};

TEST_F(DialTest, ASilentAddressLeavesTimeForTheNext) {
  const auto first = asio::ip::make_address("127.0.0.2"),
             second = asio::ip::make_address("127.0.0.1");
  const Acceptor listener = open_listener();
  const uint16_t port = listener.local_endpoint().port();
  const auto quiet = silent(first, port);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(dialled(Addresses{first, second}, port), "");
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(took, std::chrono::seconds(3)) << "the control: the first did not answer";
  EXPECT_LT(took, std::chrono::seconds(8));
}

// The kernel alone would take megabytes.
TEST_F(DialTest, LittleWaitsForAHostThatDoesNotRead) {
  const Acceptor listener = open_listener();
  const uint16_t port = listener.local_endpoint().port();
  ASSERT_EQ(dialled(Addresses{asio::ip::make_address("127.0.0.1")}, port), "");
  const std::string piece(64 << 10, 'x');
  while (send(upstream(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  int unsent = 0;
  ASSERT_EQ(ioctl(upstream(), SIOCOUTQNSD, &unsent), 0);
  EXPECT_LT(unsent, 512 << 10);
}

TEST_F(DialTest, SaysWhyThereIsNoConnection) {
  const Acceptor listener = open_listener();
  const uint16_t port = listener.local_endpoint().port();
  EXPECT_EQ(dialled(std::nullopt, port), "no_answer");
  EXPECT_EQ(dialled(Addresses(), port), "no_such_name");
  EXPECT_EQ(dialled(Addresses{asio::ip::make_address("10.0.0.1")}, port), "private_address");
  EXPECT_EQ(dialled(Addresses{asio::ip::make_address("127.0.0.3")}, port), "unreachable");
}

}  // namespace
}  // namespace sandgate::egress::test
