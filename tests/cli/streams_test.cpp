#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "gateway/core/crypto.hpp"
#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

// Puts `fd` in the place of a standard stream during its life.
class Instead {
 public:
  Instead(int stream, int fd) : stream_(stream), before_(::dup(stream)) {
    ::dup2(fd, stream);
    ::close(fd);
  }
  ~Instead() {
    ::dup2(before_, stream_);
    ::close(before_);
  }

 private:
  int stream_, before_;
};

std::string output_event(const std::string& bytes) {
  return "event: stdout\ndata: {\"data\":\"" + base64_encode(bytes) + "\"}\n\n";
}

constexpr const char* kExit = "event: exit\ndata: {\"exit_code\":0}\n\n";

// A gateway whose sandbox says "hello".
std::string hello(const ScriptedServer::Request& request) {
  if (request.method == "DELETE") return ScriptedServer::json(204, "");
  if (request.target.ends_with("/exec"))
    return ScriptedServer::of_type("text/event-stream", output_event("hello\n") + kExit);
  return ScriptedServer::json(201, R"({"id":"sb1","items":[]})");
}

int told_without_capture(const std::string& url, std::vector<const char*> arguments, int output) {
  const Instead place(STDOUT_FILENO, output);
  return tell_uncaptured(url, std::move(arguments));
}

int broken_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  return ends[1];
}

// As on a full disk.
TEST(Streams, OutputThatCannotBeWrittenIsAnError) {
  ScriptedServer server(&hello);
  for (std::vector<const char*> words : {std::vector<const char*>{"list", "--json"},
                                         {"exec", "sb1", "--", "true"},
                                         {"usage", "export"},
                                         {"help"}}) {
    testing::internal::CaptureStderr();
    const int takes_nothing = ::open("/dev/null", O_RDONLY);
    EXPECT_EQ(told_without_capture(server.url(), words, takes_nothing), 1) << words[0];
    EXPECT_NE(testing::internal::GetCapturedStderr().find("Bad file descriptor"), std::string::npos)
        << words[0];
  }
}

TEST(Streams, RunKillsWhenNobodyReads) {
  ScriptedServer server(&hello);
  const std::vector<const char*> words{"run", "--", "yes"};
  EXPECT_EQ(told_without_capture(server.url(), words, broken_pipe()), 128 + SIGPIPE);
  EXPECT_EQ(server.requests.back().method, "DELETE");
}

TEST(Streams, RunKillsWhenTheTerminalGoes) {
  ScriptedServer server([](const auto& request) {
    if (request.target.ends_with("/exec")) ::kill(::getpid(), SIGHUP);
    return hello(request);
  });
  EXPECT_EQ(tell(server.url(), {"run", "--", "sleep", "100"}).exit_code, 128 + SIGHUP);
  EXPECT_EQ(server.requests.back().method, "DELETE");
}

}  // namespace
}  // namespace sandgate::cli
