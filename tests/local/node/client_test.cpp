#include "local/node/client.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "gateway/core/settle.hpp"
#include "local/node/wire.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

// Answers each request with the number of the connection that it came on; "hang" never.
class NumberedNode {
 public:
  NumberedNode(LiveLoop& loop, std::string path)
      : loop_(loop), path_(std::move(path)), acceptor_(open()) {
    spawn_detached(loop_.executor(), [this] { return accept(); });
  }
  // As a node that ends: with all its connections.
  void restart() {
    acceptor_ = open();
    for (const auto& [number, stream] : connections_) stream->close();
    spawn_detached(loop_.executor(), [this] { return accept(); });
  }
  size_t open_connections() const { return connections_.size(); }

 private:
  using Acceptor = asio::local::stream_protocol::acceptor;
  Acceptor open() {
    unlink(path_.c_str());
    return Acceptor(loop_.executor(), asio::local::stream_protocol::endpoint(path_));
  }
  Task<void> accept() {
    for (;;) {
      auto [error, stream] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
      if (error) co_return;
      const int number = ++accepted_;
      auto kept = std::make_shared<wire::Stream>(std::move(stream));
      connections_[number] = kept;
      spawn_detached(loop_.executor(), [this, kept, number] { return converse(kept, number); });
    }
  }
  Task<void> converse(std::shared_ptr<wire::Stream> stream, int number) {
    auto answering = answer_all(stream, number);
    co_await attempt(std::move(answering));
    connections_.erase(number);
  }
  static Task<void> answer_all(std::shared_ptr<wire::Stream> stream, int number) {
    while (const auto request = co_await wire::receive(*stream)) {
      if (request->at("verb") == "hang") continue;
      Json reply{{"id", 1}, {"result", number}};
      co_await wire::send(*stream, std::move(reply));
    }
  }

  LiveLoop& loop_;
  const std::string path_;
  Acceptor acceptor_;
  std::map<int, std::shared_ptr<wire::Stream>> connections_;
  int accepted_ = 0;
};

struct NodeClientTest : ::testing::Test {
  int ask(const std::string& verb = "ping") { return loop.run(client.call(verb)).get<int>(); }

  TempDirectory directory;
  LiveLoop loop;
  const std::string path = directory.path() + "/node.sock";
  NumberedNode node{loop, path};
  const NodeClient client{path};
};

TEST_F(NodeClientTest, UsesItsConnectionAgain) {
  EXPECT_EQ(ask(), 1);
  EXPECT_EQ(ask(), 1);
}

TEST_F(NodeClientTest, FindsANodeThatWasStartedAgain) {
  EXPECT_EQ(ask(), 1);
  node.restart();
  EXPECT_EQ(ask(), 2);
}

TEST_F(NodeClientTest, ACallThatIsCancelledEndsItsConnection) {
  auto calling = client.call("hang");
  EXPECT_FALSE(loop.run(with_timeout(20ms, std::move(calling))));
  EXPECT_EQ(ask(), 2) << "the first has an answer to come";
  EXPECT_EQ(node.open_connections(), 1u);
}

TEST_F(NodeClientTest, CallsAtOnceHaveAConnectionEach) {
  const auto both = [&]() -> Task<std::pair<int, int>> {
    using namespace asio::experimental::awaitable_operators;
    auto asked = client.call("ping") && client.call("ping");
    const auto [one, other] = co_await std::move(asked);
    co_return std::pair(one.get<int>(), other.get<int>());
  };
  const auto [one, other] = loop.run(both());
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace sandgate::test
