#include "local/egress/egress_sandbox.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/support/run.hpp"

namespace sandgate::egress::test {
namespace {

using sandgate::test::TempDirectory;

// A socket on a free port of this machine, to be a door.
Fd open_listener(int type = SOCK_STREAM) {
  Fd made(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(made.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(listen(made.get(), 300), 0);
  }
  return made;
}

sockaddr_in address_of(const Fd& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return address;
}

Fd call(const sockaddr_in& listener, int type = SOCK_STREAM) {
  Fd made(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&listener), sizeof listener), 0);
  return made;
}

// Asks badly: whoever is served is refused at once.
void ask(const Fd& client, const std::string& authority = "no.example.org:443") {
  const std::string request = "CONNECT " + authority + " HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(send(client.get(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
}

bool is_answered(const Fd& client) {
  char byte = 0;
  return recv(client.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

class EgressSandboxTest : public ::testing::Test {
 protected:
  struct Sandbox {
    std::shared_ptr<EgressSandbox> inside;
    sockaddr_in proxy, dns, dns_udp;
  };

  // Descriptors for so many connections of everybody together, and a reserve.
  void have_room_for(size_t connections, size_t sandboxes) {
    const size_t all = connections * kOfConnection + sandboxes * kListeners;
    services_.emplace(Services{loop_, resolver_, std::make_shared<DescriptorQuota>(all + all / 3),
                               AddressPolicy(), tls_});
  }

  Sandbox sandbox(const std::string& id, const std::string& tenant) {
    Fd count = open_byte_count(directory_.path() + "/" + id);
    auto inside =
        std::make_shared<EgressSandbox>(*services_, id, tenant, Policy(), std::move(count));
    Listeners listeners{open_listener(SOCK_DGRAM), open_listener(), open_listener(), {}};
    Sandbox made{inside, address_of(listeners.proxy), address_of(listeners.dns_tcp),
                 address_of(listeners.dns_udp)};
    inside->open(std::move(listeners));
    sandboxes_.push_back(inside);
    return made;
  }

  // Does all that can be done now; false when that has no end.
  bool settle() {
    int steps = 0;
    while (steps < 10'000 && loop_.poll_one() > 0) ++steps;
    return steps < 10'000;
  }

  void run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < end)
      loop_.run_one_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(done());
  }

  ~EgressSandboxTest() override {
    for (const auto& inside : sandboxes_) inside->close();
    EXPECT_TRUE(settle());
  }

 private:
  TempDirectory directory_;
  asio::io_context loop_{1};
  FairResolver resolver_{loop_, {.threads = 1}};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  std::optional<Services> services_;
  std::vector<std::shared_ptr<EgressSandbox>> sandboxes_;
};

TEST_F(EgressSandboxTest, ATenantBeyondItsShareWaitsAndOthersDoNot) {
  have_room_for(8, 3);
  const Sandbox first = sandbox("sb1", "a"), second = sandbox("sb2", "a"),
                others = sandbox("sb3", "b");
  std::vector<Fd> held;
  for (int i = 0; i < 4; ++i) held.push_back(call(first.proxy));
  ASSERT_TRUE(settle());
  const Fd late = call(second.proxy), other = call(others.proxy);
  ask(late);
  ask(other);
  ASSERT_TRUE(settle());
  EXPECT_FALSE(is_answered(late));
  EXPECT_TRUE(is_answered(other));
  held.clear();
  run_until([&] { return is_answered(late); });
}

TEST_F(EgressSandboxTest, LogsATargetThatIsNone) {
  have_room_for(2, 1);
  const Sandbox one = sandbox("sb1", "a");
  const Fd client = call(one.proxy);
  ask(client, "no.example.org.:443");
  run_until([&] { return is_answered(client); });
  ASSERT_EQ(one.inside->verdicts().size(), 1u);
  EXPECT_EQ(one.inside->verdicts()[0].reason, "malformed");
}

TEST_F(EgressSandboxTest, NoTenantFillsTheLogHoweverManySandboxesItHas) {
  have_room_for(8, 8);
  const auto refuse_at = [](const Sandbox& one) {
    for (int i = 0; i < 30; ++i)
      one.inside->log_refusal("no.example.org:443", "connect", "no_rule");
  };
  std::vector<Sandbox> many;
  for (int i = 0; i < 4; ++i) many.push_back(sandbox("many" + std::to_string(i), "a"));
  const Sandbox other = sandbox("other", "b");
  const auto began = std::chrono::steady_clock::now();
  testing::internal::CaptureStderr();
  for (const Sandbox& one : many) refuse_at(one);
  refuse_at(other);
  const std::string text = testing::internal::GetCapturedStderr();
  const auto seconds = (std::chrono::steady_clock::now() - began) / std::chrono::seconds(1) + 1;
  const auto lines_of = [&](const std::string& word) {
    std::istringstream lines(text);
    int found = 0;
    for (std::string line; std::getline(lines, line);)
      found += line.find("egress refused") != line.npos && line.find(word) != line.npos;
    return found;
  };
  EXPECT_GE(lines_of("many"), 10) << text;
  EXPECT_LE(lines_of("many"), 10 * seconds) << text;
  EXPECT_GE(lines_of("other"), 10) << "another tenant's are there: " << text;
  EXPECT_EQ(many[3].inside->verdicts().size(), 30u) << "its own log has each";
}

TEST_F(EgressSandboxTest, WaitingListenersRest) {
  have_room_for(2, 1);
  const Sandbox one = sandbox("sb1", "a");
  const Fd held = call(one.proxy);
  ASSERT_TRUE(settle());
  const Fd to_proxy = call(one.proxy), to_dns = call(one.dns);
  ask(to_proxy);
  EXPECT_TRUE(settle());
  EXPECT_FALSE(is_answered(to_proxy));
}

// The last of these queries is one too many for the second in which it is sent.
TEST_F(EgressSandboxTest, QueriesBeyondTheLimitAreAnsweredLater) {
  have_room_for(2, 1);
  const Sandbox one = sandbox("sb1", "a");
  const Fd requester = call(one.dns_udp, SOCK_DGRAM);
  constexpr std::string_view kQuery("\0\1\0\0\0\0\0\0\0\0\0\0", 12);  // without a question
  for (int asked = 0; asked <= 500; ++asked) {
    ASSERT_EQ(send(requester.get(), kQuery.data(), kQuery.size(), 0), 12);
    char answer[64];
    bool answered = false;
    run_until([&] {
      answered = answered || recv(requester.get(), answer, sizeof answer, MSG_DONTWAIT) == 12;
      return answered;
    });
  }
}

}  // namespace
}  // namespace sandgate::egress::test
