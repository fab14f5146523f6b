#include <gtest/gtest.h>

#include "local/egress/http_forward.hpp"
#include "local/egress/relay.hpp"
#include "tests/local/egress/one_sandbox.hpp"

namespace sandgate::egress::test {
namespace {

constexpr size_t kUploads = 8;
constexpr int64_t kRelayPiece = 256 << 10, kForwardPiece = 16 << 10, kHead = 256;

// Uploads of one tenant through several connections at once, each with more to pass on than a turn
// is for. Everything happens in most_at_once().
class EgressTurnsTest : public OneSandboxTest {
 protected:
  using Carry = Task<void> (*)(std::shared_ptr<Connection>);

  ~EgressTurnsTest() override {
    sandbox_->close();
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds(50));
  }

  void upload(Carry carry) {
    asio::ip::tcp::acceptor listener(loop_, {asio::ip::address_v4::loopback(), 0});
    Socket program(loop_), host(loop_);
    program.connect(listener.local_endpoint());
    auto connection = std::make_shared<Connection>(sandbox_, listener.accept());
    host.connect(listener.local_endpoint());
    connection->upstream = listener.accept();
    program.non_blocking(true);
    boost::system::error_code full;
    while (!full) program.write_some(asio::buffer(kBytes), full);
    spawn_detached(loop_.get_executor(), carry(std::move(connection)));
    ends_.push_back(std::move(program));
    ends_.push_back(std::move(host));
  }

  // The most that all connections pass on before something else that is ready has its turn.
  int64_t most_at_once() {
    int64_t most = 0, before = 0;
    int looks = 1000;
    std::function<void()> look = [&] {
      most = std::max(most, counted() - before);
      before = counted();
      if (--looks > 0) asio::post(loop_, look);
    };
    asio::post(loop_, look);
    loop_.restart();
    loop_.poll();
    return most;
  }

 private:
  inline static const std::string kBytes = std::string(1 << 16, 'x');
  std::vector<Socket> ends_;
};

Task<void> forward_upload(std::shared_ptr<Connection> connection) {
  PlainStream client(connection->client), upstream(connection->upstream);
  RequestHead head{.method = "POST",
                   .target = "/",
                   .fields = {{"Host", "a.example"}, {"Content-Length", "1000000000"}},
                   .body = BodyKind::sized,
                   .body_bytes = 1'000'000'000};
  auto forwarding = forward(connection, client, upstream, std::move(head), "", Redactor());
  co_await std::move(forwarding);
}

TEST_F(EgressTurnsTest, AllOfATenantHaveOneAtATime) {
  for (size_t i = 0; i < kUploads; ++i) upload(relay);
  EXPECT_LE(most_at_once(), kRelayPiece);
  EXPECT_GT(counted(), 2 * kRelayPiece);
}

TEST_F(EgressTurnsTest, AllRequestsOfATenantHaveOneAtATime) {
  for (size_t i = 0; i < kUploads; ++i) upload(forward_upload);
  EXPECT_LE(most_at_once(), kForwardPiece + kUploads * kHead);
  EXPECT_GT(counted(), 2 * kForwardPiece);
}

}  // namespace
}  // namespace sandgate::egress::test
