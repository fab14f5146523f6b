#include "local/egress/server.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/core/log.hpp"
#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

using sandgate::test::TempDirectory;
using Unix = asio::local::stream_protocol;

// As long as it lives, this process can open only so many more descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    // Made here, as in the process itself: a sanitizer looks at new objects through descriptors.
    log::info("few descriptors");
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const Fd lowest(dup(0));
    const rlimit few{static_cast<rlim_t>(lowest.get()) + more, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// The server with its two sockets, one end of each in our hand. It obeys the node only by the way.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), 0);
    node_ = Fd(pair[0]);
    Unix::acceptor listener(loop_, path_);
    server_.emplace(
        Services{loop_, resolver_, std::make_shared<DescriptorQuota>(1024), AddressPolicy(), tls_},
        Fd(pair[1]), Fd(listener.release()), getuid());
    spawn_detached(loop_.get_executor(), [this] { return server_->listen(); });
  }

  void attach(const std::string& id) {
    Listeners listeners{listening(SOCK_DGRAM, false), listening(SOCK_STREAM, false),
                        listening(SOCK_STREAM, false), listening(SOCK_STREAM, true)};
    const Fd count = open_byte_count(directory_.path() + "/count");
    const Json network{{"default", "deny"}, {"allow", Json::array()}};
    send_control(node_.get(),
                 {{"seq", 1}, {"verb", "attach"}, {"id", id}, {"tenant", ""}, {"network", network}},
                 {listeners.dns_udp.get(), listeners.dns_tcp.get(), listeners.proxy.get(),
                  listeners.transparent.get(), count.get()});
  }

  // Obeys the node until it has been answered; what it was told.
  Json hear() {
    pollfd answer{node_.get(), POLLIN, 0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (poll(&answer, 1, 0) == 0 && std::chrono::steady_clock::now() < end)
      loop_.run_one_for(std::chrono::milliseconds(100));
    if (poll(&answer, 1, 0) == 0) return "nothing";
    auto message = receive_control(node_.get());
    return message ? message->body : Json("the end");
  }

  void process_commands() {
    spawn_detached(loop_.get_executor(), [this] { return server_->process_commands(); });
  }

  Json ask(std::string verb, Json params) {
    Json answer;
    spawn_detached(loop_.get_executor(), [this, &answer, verb, params]() -> Task<void> {
      Unix::socket socket(loop_);
      const Unix::endpoint endpoint(path_);
      co_await socket.async_connect(endpoint, asio::use_awaitable);
      Json request{{"id", 1}, {"verb", verb}, {"params", params}};
      auto sending = wire::send(socket, std::move(request));
      co_await std::move(sending);
      auto receiving = wire::receive(socket);
      const std::optional<Json> reply = co_await std::move(receiving);
      answer = reply.value_or(Json());
      loop_.stop();
    });
    loop_.restart();
    loop_.run_for(std::chrono::seconds(10));
    return answer;
  }

 private:
  static Fd listening(int type, bool v6) {
    Fd made(socket(v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int failed = type == SOCK_STREAM ? listen(made.get(), 8) : 0;
    EXPECT_EQ(failed, 0);
    return made;
  }

  TempDirectory directory_;
  const std::string path_ = directory_.path() + "/egress.sock";
  asio::io_context loop_{1};
  FairResolver resolver_{loop_, {.threads = 1}};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  Fd node_;
  std::optional<Server> server_;
};

TEST_F(ServerTest, KnowsWhatTheNodeSaidBeforeServeAsks) {
  attach("sb1");
  const Json grants{{"id", "sb1"}, {"revision", "r1"}, {"grants", Json::array()}};
  const Json answer = ask("set_secrets", grants);
  EXPECT_TRUE(answer.contains("result")) << answer;
  EXPECT_EQ(ask("revisions", Json::object())["result"], (Json{{"sb1", "r1"}}));
}

TEST_F(ServerTest, KnowsWhichSandboxesDoNotTrustItYet) {
  attach("sb1");
  attach("sb2");
  const auto lacking = [this] { return ask("lacking_trust", Json::object())["result"]; };
  EXPECT_EQ(lacking(), Json::object());
  const Json grants{{"id", "sb1"}, {"revision", "r1"}, {"grants", Json::array()}};
  const Json certificate = ask("set_secrets", grants)["result"]["certificate"];
  EXPECT_EQ(lacking(), (Json{{"sb1", certificate}}));
  ask("trusted", {{"id", "sb1"}, {"certificate", "of the process before"}});
  EXPECT_EQ(lacking(), (Json{{"sb1", certificate}}));
  ask("trusted", {{"id", "sb1"}, {"certificate", certificate}});
  EXPECT_EQ(lacking(), Json::object());
  ask("set_secrets", {{"id", "sb1"}, {"revision", "r2"}, {"grants", Json::array()}});
  EXPECT_EQ(lacking(), Json::object()) << "its authority is the same";
}

TEST_F(ServerTest, OutlivesAnOrderThatLostItsDescriptors) {
  process_commands();
  attach("sb1");
  {
    const FewDescriptors few(2);
    EXPECT_EQ(hear(), (Json{{"ack", 1}}));
  }
  EXPECT_EQ(hear(), (Json{{"again", "sb1"}}));
  attach("sb1");
  EXPECT_EQ(hear(), (Json{{"ack", 1}}));
  EXPECT_EQ(ask("verdicts", {{"id", "sb1"}})["result"], Json::array());
}

TEST_F(ServerTest, DoesNotKnowOthers) {
  const Json answer = ask("verdicts", {{"id", "sb2"}});
  EXPECT_EQ(answer["error"]["code"], "not_found") << answer;
}

}  // namespace
}  // namespace sandgate::egress::test
