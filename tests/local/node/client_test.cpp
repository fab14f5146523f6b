#include "local/node/server/client.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "gateway/core/fd.hpp"
#include "gateway/core/settle.hpp"
#include "local/node/server/wire.hpp"
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
  void end() {
    acceptor_.close();
    for (const auto& [number, stream] : connections_) stream->close();
  }
  void start() {
    acceptor_ = open();
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
  node.end();
  node.start();
  EXPECT_EQ(ask(), 2);
}

TEST_F(NodeClientTest, WaitsForANodeThatIsStartedAgain) {
  EXPECT_EQ(ask(), 1);
  node.end();
  spawn_detached(loop.executor(), [this]() -> Task<void> {
    co_await sleep_for(200ms);
    node.start();
  });
  EXPECT_EQ(ask(), 2);
}

TEST_F(NodeClientTest, WaitsForANodeThatStaysAwayOnce) {
  EXPECT_EQ(ask(), 1);
  node.end();
  EXPECT_THROW(ask(), Error);
  const auto missed = std::chrono::steady_clock::now();
  EXPECT_THROW(ask(), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - missed, 2s);
  node.start();
  EXPECT_EQ(ask(), 2) << "and finds it again";
}

TEST_F(NodeClientTest, DoesNotWaitForANodeThatWasNeverThere) {
  const NodeClient stranger{directory.path() + "/nobody.sock"};
  const auto called = std::chrono::steady_clock::now();
  EXPECT_THROW(loop.run(stranger.call("ping")), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - called, 2s);
}

TEST_F(NodeClientTest, ACallThatIsCancelledEndsItsConnection) {
  auto calling = client.call("hang");
  EXPECT_FALSE(loop.run(with_timeout(20ms, std::move(calling))));
  EXPECT_EQ(ask(), 2) << "the first has an answer to come";
  EXPECT_EQ(node.open_connections(), 1u);
}

// One that has much to do, or was stopped for a moment, is not away.
TEST_F(NodeClientTest, AFullBacklogIsWaitedFor) {
  const std::string crowded = directory.path() + "/crowded.sock";
  const asio::local::stream_protocol::endpoint address(crowded);
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), address.data(), static_cast<socklen_t>(address.size())), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  std::vector<Fd> crowd;
  for (bool full = false; !full;) {
    crowd.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    full =
        ::connect(crowd.back().get(), address.data(), static_cast<socklen_t>(address.size())) != 0;
    ASSERT_LT(crowd.size(), 100u);
  }
  const std::jthread served([&] {
    std::this_thread::sleep_for(100ms);
    for (size_t i = 1; i < crowd.size(); ++i) Fd(::accept(listener.get(), nullptr, nullptr));
    const Fd ours(::accept(listener.get(), nullptr, nullptr));
    // Whoever writes to an end that is closed learns of that before it reads.
    std::array<char, 256> request;
    EXPECT_GT(::read(ours.get(), request.data(), request.size()), 0);
    const std::string reply = Json{{"id", 1}, {"result", 7}}.dump();
    const auto size = static_cast<uint32_t>(reply.size());
    const std::string message(reinterpret_cast<const char*>(&size), sizeof size);
    EXPECT_EQ(::write(ours.get(), (message + reply).data(), sizeof size + size),
              static_cast<ssize_t>(sizeof size + size));
  });
  const NodeClient waiting{crowded};
  const auto outcome = loop.run(attempt(waiting.call("ping")));
  ::shutdown(listener.get(), SHUT_RDWR);  // who serves waits for nobody any more
  ASSERT_TRUE(std::holds_alternative<Json>(outcome)) << std::get<Error>(outcome).what();
  EXPECT_EQ(std::get<Json>(outcome), 7);
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
