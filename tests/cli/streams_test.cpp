#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <future>

#include "gateway/cli/terminal/interrupt.hpp"
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

TEST(Streams, ALineOfTheShellThatIsNoProgramGetsAHint) {
  const auto said = [](std::vector<const char*> words, int code) {
    ScriptedServer server([code](const auto& request) {
      return ScriptedServer::of_type(
          "text/event-stream",
          request.target.ends_with("/exec")
              ? "event: exit\ndata: {\"exit_code\":" + std::to_string(code) + "}\n\n"
              : "");
    });
    words.insert(words.begin(), {"exec", "sb1", "--"});
    testing::internal::CaptureStderr();
    EXPECT_EQ(tell(server.url(), words).exit_code, code);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({"echo hi"}, 127), "sandgate: for a line of the shell, give -- sh -c '…'\n");
  EXPECT_EQ(said({"echo hi"}, 0), "");
  EXPECT_EQ(said({"echo"}, 127), "");
  EXPECT_EQ(said({"sh", "-c", "nothing here"}, 127), "");
}

TEST(Streams, EventsOfAllSandboxesHaveNoEnd) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::of_type(
        "text/event-stream",
        "event: sandbox.killed\ndata: {\"time\":\"2026-11-01T00:00:00Z\","
        "\"type\":\"sandbox.killed\",\"subject\":\"sandboxes/sb1\"}\n\n");
  });
  const Told of_one = tell(server.url(), {"events", "sb1"}),
             of_all = tell(server.url(), {"events"});
  EXPECT_EQ(of_one.exit_code, 0);
  EXPECT_EQ(of_all.exit_code, 1);
  EXPECT_EQ(of_all.output, "2026-11-01 00:00:00Z  sandbox.killed  sandboxes/sb1\n");
  EXPECT_EQ(of_one.output, of_all.output);
}

TEST(Streams, LogsAreOfTheNewestProgramOfAllPages) {
  ScriptedServer server([](const auto& request) {
    if (request.target.ends_with("/output"))
      return ScriptedServer::of_type("text/event-stream", output_event("new\n") + kExit);
    const bool second = request.target.find("cursor=c1") != std::string::npos;
    return ScriptedServer::json(
        200, second ? R"({"items":[{"id":"pr2","started_at":"2026-11-02T00:00:00Z"}]})"
                    : R"({"items":[{"id":"pr1","started_at":"2026-11-01T00:00:00Z"}],
                          "next_cursor":"c1"})");
  });
  EXPECT_EQ(tell(server.url(), {"logs", "sb1"}).output, "new\n");
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/sb1/processes/pr2/output");
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
  EXPECT_EQ(server.requests().back().method, "DELETE");
}

TEST(Streams, RunKillsWhenTheTerminalGoes) {
  ScriptedServer server([](const auto& request) {
    if (request.target.ends_with("/exec")) ::kill(::getpid(), SIGHUP);
    return hello(request);
  });
  EXPECT_EQ(tell(server.url(), {"run", "--", "sleep", "100"}).exit_code, 128 + SIGHUP);
  EXPECT_EQ(server.requests().back().method, "DELETE");
}

TEST(Streams, AnInterruptBeforeTheIdIsKnownWaitsForIt) {
  ScriptedServer server([](const auto& request) {
    if (request.target == "/v1/sandboxes") ::kill(::getpid(), SIGINT);
    return hello(request);
  });
  EXPECT_EQ(tell(server.url(), {"run", "--", "true"}).exit_code, 128 + SIGINT);
  EXPECT_EQ(server.requests().back().method, "DELETE");
}

TEST(Streams, ASecondInterruptWaitsForNothing) {
  std::promise<void> left;
  ScriptedServer server([&](const auto&) {
    ::kill(::getpid(), SIGINT);
    ::kill(::getpid(), SIGTERM);
    left.get_future().wait();
    return std::string();
  });
  const int exit_code = tell(server.url(), {"run", "--", "true"}).exit_code;
  reset_interrupts();
  left.set_value();
  EXPECT_TRUE(exit_code == 128 + SIGINT || exit_code == 128 + SIGTERM) << exit_code;
}

// A program that reads all of its input and says what came first.
class Reading {
 public:
  std::string operator()(const ScriptedServer::Request& request) {
    if (request.target.ends_with("/exec")) return run(request);
    const std::lock_guard lock(mutex_);
    if (request.method == "DELETE") closed_ = true;
    if (request.method == "POST") input_ += request.body;
    changed_.notify_all();
    return ScriptedServer::json(204, "");
  }

  std::string wait_for_input() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return !input_.empty(); });
    return input_;
  }
  std::string input() {
    const std::lock_guard lock(mutex_);
    return input_;
  }

 private:
  std::string run(const ScriptedServer::Request& request) {
    request.send(ScriptedServer::of_type("text/event-stream",
                                         "event: start\ndata: {\"process_id\":\"pr1\"}\n\n"));
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return closed_; });
    return closed_ ? kExit : "";
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string input_;
  bool closed_ = false;
};

TEST(Streams, InputIsSentAsItComesAndHasNoLimit) {
  Reading program;
  ScriptedServer server([&](const auto& request) { return program(request); });
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string seen;
  std::thread writer([&] {
    EXPECT_EQ(::write(ends[1], "first", 5), 5);
    seen = program.wait_for_input();
    const std::string much(1 << 20, 'x');
    for (int i = 0; i < 30; ++i)
      for (size_t at = 0; at < much.size();) at += ::write(ends[1], much.data() + at, 1 << 16);
    ::close(ends[1]);
  });
  Told told;
  {
    const Instead place(STDIN_FILENO, ends[0]);
    told = tell(server.url(), {"exec", "-i", "sb1", "--", "cat"});
  }
  writer.join();
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(seen, "first");
  EXPECT_EQ(program.input().size(), 5u + (30u << 20));
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/sb1/processes/pr1/stdin");
}

TEST(Streams, WhatIsPassedNoInputReadsItsEnd) {
  Reading program;
  ScriptedServer server([&](const auto& request) { return program(request); });
  EXPECT_EQ(tell(server.url(), {"exec", "sb1", "--", "cat"}).exit_code, 0);
  EXPECT_EQ(program.input(), "");
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/sb1/processes/pr1/stdin");
}

TEST(Streams, InputThatCannotBeSentIsAnError) {
  ScriptedServer server([](const auto& request) {
    if (!request.target.ends_with("/exec"))
      return ScriptedServer::json(422, R"({"code":"unsupported","detail":"no verb"})");
    request.send(ScriptedServer::of_type("text/event-stream",
                                         "event: start\ndata: {\"process_id\":\"pr1\"}\n\n"));
    ::sleep(3);
    return std::string(kExit);
  });
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "in", 2), 2);
  {
    const Instead place(STDIN_FILENO, ends[0]);
    EXPECT_EQ(tell(server.url(), {"exec", "-i", "sb1", "--", "cat"}).exit_code, 1);
  }
  ::close(ends[1]);
}

}  // namespace
}  // namespace sandgate::cli
