#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "local/agent/protocol.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using agent::frame;
using agent::FrameType;
using Socket = asio::local::stream_protocol::socket;

class HostileClientTest : public AgentTest {
 protected:
  // What the agent answers to these bytes until it closes.
  std::string tell(const std::string& bytes) {
    asio::io_context loop;
    Socket socket(loop);
    socket.connect(asio::local::stream_protocol::endpoint(socket_path()));
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(bytes), ignored);
    socket.shutdown(Socket::shutdown_send, ignored);
    std::string answer;
    asio::read(socket, asio::dynamic_buffer(answer), ignored);
    return answer;
  }
  bool alive() { return exec("echo alive").out == "alive\n"; }
};

TEST_F(HostileClientTest, MalformedRequestsAreRefused) {
  for (const char* request :
       {"", "{", "[]", "{}", R"({"protocol":1})", R"({"protocol":2,"operation":"ping"})",
        R"({"protocol":1,"operation":"nothing"})", R"({"protocol":1,"operation":"exec"})",
        R"({"protocol":1,"operation":"exec","process":"p","argv":[]})",
        R"({"protocol":1,"operation":"exec","process":"p","argv":["a"],"unknown":1})",
        R"({"protocol":1,"operation":"exec","process":"p","argv":["a"],"env":{"A=B":"c"}})",
        R"({"protocol":1,"operation":"read"})", R"({"protocol":1,"operation":"list","path":7})"}) {
    const std::string answer = tell(frame(FrameType::request, request));
    ASSERT_GT(answer.size(), agent::kHeaderBytes) << request;
    EXPECT_EQ(answer[4], static_cast<char>(FrameType::error)) << request;
  }
  EXPECT_TRUE(alive());
}

// Processor time of the agent so far, in clock ticks.
long ticks_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line, field;
  std::getline(in, line);
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  for (int number = 3; number < 14; ++number) fields >> field;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

TEST_F(HostileClientTest, WithoutDescriptorsItRests) {
  EXPECT_TRUE(alive());
  rlimit before{};
  ASSERT_EQ(::prlimit(agent_pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit few{12, before.rlim_max};
  ASSERT_EQ(::prlimit(agent_pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  asio::io_context loop;
  std::vector<Socket> crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.emplace_back(loop);
    crowd.back().connect(asio::local::stream_protocol::endpoint(socket_path()));
  }
  const long begin = ticks_of(agent_pid());
  for (int i = 0; i < 25; ++i) pause();
  EXPECT_LT(ticks_of(agent_pid()) - begin, 10);
  crowd.clear();
  ASSERT_EQ(::prlimit(agent_pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(alive());
}

TEST_F(HostileClientTest, RandomBytesAreSurvived) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 3 ? random() % 12 : random());
    tell(bytes);
  }
  EXPECT_TRUE(alive());
}

TEST_F(HostileClientTest, AnEndlessRequestIsCutOff) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) bytes += frame(FrameType::request_part, std::string(65536, ' '));
  EXPECT_EQ(tell(bytes).substr(4, 1), std::string(1, static_cast<char>(FrameType::error)));
  EXPECT_TRUE(alive());
}

TEST_F(HostileClientTest, AFullBacklogIsWaitedFor) {
  EXPECT_TRUE(alive());
  ASSERT_EQ(::kill(agent_pid(), SIGSTOP), 0);
  asio::io_context loop;
  std::vector<Socket> crowd;
  for (boost::system::error_code full; !full;) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    crowd.emplace_back(loop, asio::local::stream_protocol(), fd);
    const asio::local::stream_protocol::endpoint agent(socket_path());
    if (::connect(fd, agent.data(), static_cast<socklen_t>(agent.size())) != 0)
      full.assign(errno, boost::system::system_category());
    ASSERT_LT(crowd.size(), 1000u);
  }
  const std::jthread resumed([this] {
    for (int i = 0; i < 20; ++i) pause();
    ::kill(agent_pid(), SIGCONT);
  });
  EXPECT_TRUE(alive());
}

TEST_F(HostileClientTest, ManyConnectionsWait) {
  asio::io_context loop;
  std::vector<Socket> sockets;
  for (int i = 0; i < 300; ++i) {
    sockets.emplace_back(loop);
    sockets.back().connect(asio::local::stream_protocol::endpoint(socket_path()));
  }
  sockets.clear();
  EXPECT_TRUE(alive());
}

}  // namespace
}  // namespace sandgate::test
