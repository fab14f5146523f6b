#include "gateway/ports/relay.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "providers/provider.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/no_body.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::code_of;

// A sandbox whose program says this to everyone who comes, and nothing more.
class CurtProgram : public Provider {
 public:
  explicit CurtProgram(std::string says) : says_(std::move(says)) {}
  Descriptor descriptor() const override { return {}; }
  Task<BackendSandbox> create(CreateSpec) override { co_return BackendSandbox{}; }
  Task<std::optional<BackendSandbox>> find(std::string) override { co_return std::nullopt; }
  Task<std::optional<BackendSandbox>> find_by_tag(std::string) override { co_return std::nullopt; }
  Task<std::vector<BackendSandbox>> list() override { co_return std::vector<BackendSandbox>{}; }
  Task<void> kill(std::string) override { co_return; }
  Task<PortConnection> dial(std::string, uint16_t) override {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no sockets");
    PortConnection made;
    made.socket = Fd(ends[0]);
    program_ = Fd(ends[1]);
    const auto size = static_cast<ssize_t>(says_.size());
    if (::write(program_.get(), says_.data(), says_.size()) != size)
      throw std::runtime_error("nothing written");
    co_return made;
  }

 private:
  const std::string says_;
  Fd program_;
};

class UnusedAccess : public SandboxAccess {
 public:
  Task<OpenSandbox> open(const http::Caller&, std::string_view, Verb) override {
    co_return OpenSandbox{};
  }
  Task<Error> translate_failure(TenantId, SandboxId, Error failure) override { co_return failure; }
  Task<bool> is_paused(TenantId, SandboxId) override { co_return false; }
  Task<void> report_gone(SandboxId, std::string) override { co_return; }
};

// A client whose alarms do not let a test wait.
class HastyClient : public http::ClientSide {
 public:
  HastyClient(asio::any_io_executor executor, std::string& told)
      : timer_(std::move(executor)), told_(told) {}
  bool http11() const override { return true; }
  bool keeps_alive() override { return true; }
  Task<void> write(std::span<const asio::const_buffer> buffers,
                   std::chrono::milliseconds) override {
    for (const auto& one : buffers) told_.append(static_cast<const char*>(one.data()), one.size());
    co_return;
  }
  void upgrade() override {}
  Task<size_t> read(std::span<char>) override { co_return 0; }
  void start_timer(std::chrono::milliseconds) override {
    timer_.expires_after(std::chrono::milliseconds(5));
    timer_.async_wait(
        [callback = std::weak_ptr(callback_)](const boost::system::error_code& failure) {
          const auto here = callback.lock();
          if (!failure && here) (*here)();
        });
  }
  void cancel_timer() override { timer_.cancel(); }
  void on_timer(std::function<void()> callback) override { *callback_ = std::move(callback); }

 private:
  asio::steady_timer timer_;
  std::string& told_;
  std::shared_ptr<std::function<void()>> callback_ = std::make_shared<std::function<void()>>();
};

Task<bool> any_left(std::shared_ptr<int> looks) { co_return (*looks)-- > 0; }

// Visits the program through a port that is closed after two looks. `told`: what the visitor gets.
Task<void> visit_program(std::string says, std::string& told, RelaySettings settings = {},
                         std::string upgrade = "") {
  AppPool pool;
  UnusedAccess access;
  sandgate::test::NoBody body;
  http::Request request;
  request.headers.add("Host", "here");
  if (!upgrade.empty()) {
    request.headers.add("Connection", "Upgrade, HTTP2-Settings");
    request.headers.add("Upgrade", upgrade);
  }
  const OpenSandbox box{.access = &access,
                        .id = SandboxId::make(),
                        .tenant = TenantId::make(),
                        .provider = std::make_shared<CurtProgram>(std::move(says)),
                        .backend_id = "b",
                        .activity = nullptr};
  PortAddress address;
  address.sandbox = box.id;
  address.port = 80;
  address.path = "/";
  HastyClient client(co_await asio::this_coro::executor, told);
  const auto relay =
      std::make_shared<Relay>(pool, access, box, std::move(address), request, body, settings);
  relay->still_open = [looks = std::make_shared<int>(2)] { return any_left(looks); };
  co_await relay->serve(client);
}

TEST(Relay, AVisitorWithoutAnAnswerIsToldThatThePortIsClosed) {
  std::string told;
  EXPECT_EQ(code_of(visit_program("", told)), ErrorCode::not_found);
  EXPECT_EQ(told, "");
}

TEST(Relay, AnAnswerThatFellSilentEndsWithThePort) {
  std::string told;
  EXPECT_EQ(code_of(visit_program("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf", told)),
            ErrorCode::not_found);
  EXPECT_TRUE(told.starts_with("HTTP/1.1 200 OK\r\n")) << told;
  EXPECT_TRUE(told.ends_with("\r\n\r\nhalf")) << told;
}

TEST(Relay, SilenceHasItsOwnEnd) {
  std::string told;
  const RelaySettings settings{.silence = std::chrono::milliseconds(1)};
  EXPECT_EQ(code_of(visit_program("", told, settings)), ErrorCode::timeout);
}

std::string switching_to(const std::string& fields) {
  return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" + fields + "\r\n";
}

TEST(Relay, AConnectionBecomesNothingButAWebSocket) {
  struct Case {
    const char *asked, *answered;
  };
  for (const Case& one : {Case{"h2c", "Upgrade: h2c\r\n"}, Case{"websocket", "Upgrade: h2c\r\n"},
                          Case{"h2c", "Upgrade: websocket\r\n"}, Case{"websocket", ""},
                          Case{"websocket", "Upgrade: websocket\r\nUpgrade: h2c\r\n"},
                          Case{"h2c, websocket", "Upgrade: h2c, websocket\r\n"}}) {
    std::string told;
    EXPECT_EQ(code_of(visit_program(switching_to(one.answered), told, {}, one.asked)),
              ErrorCode::unavailable)
        << one.asked << ' ' << one.answered;
    EXPECT_EQ(told, "");
  }
  std::string told;
  EXPECT_EQ(
      code_of(visit_program(switching_to("Upgrade: WebSocket\r\n"), told, {}, "h2c, websocket")),
      ErrorCode::timeout);
  EXPECT_TRUE(told.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << told;
  EXPECT_NE(told.find("\r\nUpgrade: websocket\r\n"), std::string::npos) << told;
}

}  // namespace
}  // namespace sandgate::ports::test
