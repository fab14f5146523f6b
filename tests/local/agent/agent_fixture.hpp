#pragma once
#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "local/agent/client/client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

struct Outcome {
  std::string out, err;
  ProcessExit exit;
  uint64_t offset = 0;
};

// Reads a stream until the process's exit.
Task<Outcome> collect(ProcessStream& stream);
Task<std::string> read_all(ByteSource& source);
// Returns the code and the first field of the Error that a task throws; "none" when it succeeds.
template <class T>
Task<std::string> refusal(Task<T> task) {
  try {
    (void)co_await std::move(task);
  } catch (const Error& error) {
    co_return std::string(to_string(error.code)) +
        (error.fields.empty() ? "" : " " + error.fields.front().path);
  }
  co_return "none";
}
Task<std::string> refusal(Task<void> task);

// Runs the real agent as an ordinary process, with a home directory of its own.
class AgentTest : public ::testing::Test {
 protected:
  AgentTest() { start({}); }
  ~AgentTest() override { stop(); }

  // Stops the running agent and starts another with these additional arguments.
  void start(std::vector<std::string> words);
  void stop();

  template <class F>
  auto go(F work) {
    return run(work());
  }
  Command shell(std::string line);
  Outcome exec(Command command);
  Outcome exec(std::string line) { return exec(shell(std::move(line))); }

  static bool is_root();
  static void pause();
  std::string home() const { return directory_.path() + "/home"; }
  std::string socket_path() const { return directory_.path() + "/agent.sock"; }
  pid_t agent_pid() const { return pid_; }
  long agent_memory_kib() const;  // resident
  // Limit of agent_memory_kib(), even with clients that do not read. The address sanitizer needs
  // additional memory.
#ifdef __SANITIZE_ADDRESS__
  static constexpr long kMaxMemoryKib = 64 * 1024;
#else
  static constexpr long kMaxMemoryKib = 32 * 1024;
#endif

  TempDirectory directory_;
  AgentClient client_{directory_.path() + "/agent.sock"};

 private:
  pid_t pid_ = -1;
  int next_process_ = 0;
};

}  // namespace sandgate::test
