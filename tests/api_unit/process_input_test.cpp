#include "gateway/api/process_input.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "gateway/api/process_socket.hpp"
#include "gateway/core/settle.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {
namespace {

using api::ProcessWithInput;
using std::chrono::milliseconds;

constexpr milliseconds kLong{1000};  // enough for several repeated writes

Error limited() {
  Error error(ErrorCode::rate_limited, "slow down");
  error.retry_after = milliseconds(10);
  return error;
}

// A program that exits after `lifetime`, behind a backend that answers writes with `refusals`
// first.
struct Program {
  std::deque<Error> refusals;
  milliseconds lifetime{100};
  std::string taken;
  bool closed = false;
};

class ScriptedProcess final : public ProcessStream {
 public:
  explicit ScriptedProcess(Program& program) : program_(program) {}

  Task<std::optional<ProcessEvent>> next() override {
    co_await sleep_for(program_.lifetime);
    co_return ProcessExit{};
  }
  Task<void> write_stdin(std::string bytes) override {
    refuse();
    program_.taken += bytes;
    co_return;
  }
  Task<void> close_stdin() override {
    refuse();
    program_.closed = true;
    co_return;
  }

 private:
  void refuse() {
    if (program_.refusals.empty()) return;
    const Error refusal = program_.refusals.front();
    program_.refusals.pop_front();
    throw refusal;
  }

  Program& program_;
};

// How the program's output ends while it is fed.
Task<std::optional<ProcessEvent>> outcome_of(Program& program, std::string input) {
  ScriptedProcess stream(program);
  ProcessWithInput process(stream, co_await asio::this_coro::executor, std::move(input));
  auto ending = with_companion(process.next(), process.run());
  co_return co_await std::move(ending);
}

TEST(ProcessInput, ABackendThatAsksToWaitGetsAllOfItOnce) {
  LiveLoop loop;
  Program program{.refusals = {limited(), limited(), limited()}, .lifetime = kLong};
  const std::string input(200'000, 'q');
  EXPECT_TRUE(loop.run(outcome_of(program, input)));
  EXPECT_EQ(program.taken, input);
  EXPECT_TRUE(program.closed);
}

TEST(ProcessInput, LostInputIsNoSuccess) {
  LiveLoop loop;
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::timeout, ErrorCode::internal}) {
    Program program{.refusals = {Error(code, "no")}, .lifetime = std::chrono::seconds(30)};
    EXPECT_EQ(code_of([&] { loop.run(outcome_of(program, "x")); }), std::optional(code));
    EXPECT_EQ(program.taken, "");
  }
}

TEST(ProcessInput, WhatAnEndedProgramDidNotReadIsNotLost) {
  LiveLoop loop;
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::conflict, ErrorCode::not_found}) {
    Program program{.refusals = {Error(code, "no")}};
    EXPECT_TRUE(loop.run(outcome_of(program, "x")));
  }
}

TEST(ProcessInput, AProgramThatClosedItsStdinIsSentNoMore) {
  LiveLoop loop;
  Program program{.refusals = {Error(ErrorCode::conflict, "closed")}};
  EXPECT_TRUE(loop.run(outcome_of(program, std::string(200'000, 'q'))));
  EXPECT_EQ(program.taken, "");
}

// A client that sends the given frames and stays.
class ScriptedSocket final : public http::WebSocket {
 public:
  explicit ScriptedSocket(std::deque<http::WebSocketMessage> frames) : frames_(std::move(frames)) {}

  Task<std::optional<http::WebSocketMessage>> read() override {
    if (frames_.empty()) co_await sleep_for(std::chrono::seconds(30));
    auto frame = std::move(frames_.front());
    frames_.pop_front();
    co_return frame;
  }
  Task<void> write(http::WebSocketMessage message) override {
    last = Json::parse(message.bytes, nullptr, /*allow_exceptions=*/false);
    co_return;
  }
  Task<void> close(uint16_t code, std::string) override {
    closed_with = code;
    co_return;
  }

  Json last;
  int closed_with = 0;

 private:
  std::deque<http::WebSocketMessage> frames_;
};

// How a WebSocket ends whose client sends one frame.
void serve(Program& program, ScriptedSocket& socket) {
  LiveLoop loop;
  auto response = api::web_socket_of({.stream = std::make_unique<ScriptedProcess>(program)});
  loop.run(std::get<http::UpgradeBody>(response.body).serve(socket));
}

TEST(ProcessInput, AWebSocketTellsOfLostInput) {
  const http::WebSocketMessage frames[] = {{false, std::string(1, '\0') + "x"},
                                           {true, R"({"type":"close_stdin"})"}};
  for (const auto& frame : frames) {
    Program program{.refusals = {Error(ErrorCode::unavailable, "no")},
                    .lifetime = std::chrono::seconds(30)};
    ScriptedSocket socket({frame});
    serve(program, socket);
    EXPECT_EQ(socket.last["type"], "error");
    EXPECT_EQ(socket.last["code"], "unavailable");
    EXPECT_EQ(socket.closed_with, 1011);
  }
}

TEST(ProcessInput, AWebSocketWaitsForABackend) {
  Program program{.refusals = {limited(), limited()}, .lifetime = kLong};
  ScriptedSocket socket({{false, std::string(1, '\0') + "x"}});
  serve(program, socket);
  EXPECT_EQ(program.taken, "x");
  EXPECT_EQ(socket.last["type"], "exit");
  EXPECT_EQ(socket.closed_with, 1000);
}

}  // namespace
}  // namespace sandgate::test
