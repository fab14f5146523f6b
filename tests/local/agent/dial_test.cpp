#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

class DialTest : public AgentTest {
 protected:
  // A listener on a free port of loopback.
  DialTest() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }

  Fd listener_;
  uint16_t port_ = 0;
};

TEST_F(DialTest, HandsOverAConnectedSocket) {
  ASSERT_EQ(::listen(listener_.get(), 8), 0);
  Fd ours = go([&] { return client_.dial(port_); });
  const Fd theirs(::accept(listener_.get(), nullptr, nullptr));
  ASSERT_GE(theirs.get(), 0);
  char text[8] = {};
  ASSERT_EQ(::send(ours.get(), "hello", 5, 0), 5);
  EXPECT_EQ(::recv(theirs.get(), text, sizeof text, 0), 5);
  // The agent keeps nothing of it: our end is its end.
  ours = Fd();
  EXPECT_EQ(::recv(theirs.get(), text, sizeof text, 0), 0);
}

TEST_F(DialTest, SaysThatNothingListens) {
  EXPECT_EQ(go([&] { return refusal(client_.dial(port_)); }), "unavailable");
}

}  // namespace
}  // namespace sandgate::test
