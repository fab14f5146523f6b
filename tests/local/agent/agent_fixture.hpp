#pragma once
#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "local/agent/client.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

struct Outcome {
  std::string out, err;
  ProcessExit exit;
  uint64_t offset = 0;
};

class StringSource : public ByteSource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}
  Task<size_t> read(std::span<char> into) override;

 private:
  std::string bytes_;
  size_t at_ = 0;
};

// Everything the stream says until the process ended.
Task<Outcome> collect(ProcessStream& stream);
Task<std::string> read_all(ByteSource& source);
// The code and the field of the Error a task ends with; "none" when it succeeds.
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

// The real agent as an ordinary process, its account a user with a home of its own.
class AgentTest : public ::testing::Test {
 protected:
  AgentTest() { start({}); }
  ~AgentTest() override { stop(); }

  // Ends the agent that runs and starts another with these further words.
  void start(std::vector<std::string> words);
  void stop();

  template <class F>
  auto go(F work) {
    return run(work());
  }
  Command shell(std::string line);
  Outcome exec(Command command);
  Outcome exec(std::string line) { return exec(shell(std::move(line))); }
  // Waits until the condition holds; false after some seconds.
  template <class F>
  bool eventually(F condition) {
    for (int i = 0; i < 500; ++i) {
      if (condition()) return true;
      pause();
    }
    return false;
  }

  static bool is_root();
  static void pause();
  std::string home() const { return directory_.path() + "/home"; }
  std::string socket_path() const { return directory_.path() + "/agent.sock"; }
  pid_t agent_pid() const { return pid_; }
  long agent_memory_kib() const;  // resident
  // The most that it may be, whatever nobody reads. The address sanitizer keeps its own beside it.
#ifdef __SANITIZE_ADDRESS__
  static constexpr long kMostMemoryKib = 64 * 1024;
#else
  static constexpr long kMostMemoryKib = 32 * 1024;
#endif

  TempDirectory directory_;
  AgentClient client_{directory_.path() + "/agent.sock"};

 private:
  pid_t pid_ = -1;
  int next_process_ = 0;
};

}  // namespace sandgate::test
