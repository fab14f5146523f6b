#include <fstream>

#include "gateway/core/settle.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

constexpr auto kTimeout = 15s;

// A tenant's program that stops the children of its agent that move files.
class StoppedWorkerTest : public AgentTest {
 protected:
  // The process of the first program is a child of the agent before, and would be stopped, too.
  void SetUp() override { exec("true"); }

  std::string children() const {
    const std::string pid = std::to_string(agent_pid());
    std::ifstream in("/proc/" + pid + "/task/" + pid + "/children");
    std::string pids;
    std::getline(in, pids);
    return pids;
  }
  Task<void> halt(std::string pids) {
    Command command = shell("kill -STOP " + pids);
    auto stream = co_await client_.exec(std::move(command));
    const Outcome outcome = co_await collect(*stream);
    EXPECT_EQ(outcome.exit.exit_code, 0) << outcome.err;
  }
  bool nobody_is_left() {
    return eventually([this] { return children().empty(); });
  }
};

// Whose worker is stopped once the agent asked for bytes.
class StoppingSource : public ByteSource {
 public:
  explicit StoppingSource(std::function<Task<void>()> stop) : stop_(std::move(stop)) {}
  Task<size_t> read(std::span<char> into) override {
    if (reads_++ == 0) co_await stop_();
    co_return reads_ > 1000 ? 0 : into.size();
  }

 private:
  const std::function<Task<void>()> stop_;
  int reads_ = 0;
};

TEST_F(StoppedWorkerTest, ADownloadEndsAndTheNextOneWorks) {
  exec("head -c 8M /dev/zero > large");
  for (int round = 0; round < 3; ++round) {
    const std::string refused = go([&]() -> Task<std::string> {
      const auto content = co_await client_.read_file("large", ByteRange());
      co_await halt(children());
      auto reading = within(kTimeout, read_all(*content.bytes));
      co_return co_await refusal(std::move(reading));
    });
    EXPECT_EQ(refused, "unavailable");
    EXPECT_TRUE(nobody_is_left());
  }
}

TEST_F(StoppedWorkerTest, AnUploadEndsAndTheNextOneWorks) {
  for (int round = 0; round < 3; ++round) {
    StoppingSource source([this] { return halt(children()); });
    const std::string refused = go([&]() -> Task<std::string> {
      auto writing = within(kTimeout, client_.write_file("new", 0644, source));
      co_return co_await refusal(std::move(writing));
    });
    EXPECT_EQ(refused, "unavailable");
    EXPECT_TRUE(nobody_is_left());
  }
  TextBytes whole("whole");
  EXPECT_EQ(go([&] { return client_.write_file("new", 0644, whole); }).size, 5u);
}

TEST_F(StoppedWorkerTest, AWatchEnds) {
  const std::string refused = go([&]() -> Task<std::string> {
    const auto watch = co_await client_.watch(".", false);
    co_await halt(children());
    auto waiting = within(kTimeout, watch->next());
    co_return co_await refusal(std::move(waiting));
  });
  EXPECT_EQ(refused, "unavailable");
}

// Job control of the tenant's own.
TEST_F(StoppedWorkerTest, AProgramThatIsStoppedGoesOn) {
  const Outcome outcome =
      exec("sh -c 'kill -STOP $$; echo on' & sleep 0.2; kill -CONT $!; wait $!; echo $?");
  EXPECT_EQ(outcome.out, "on\n0\n");
  const Outcome itself = exec("(sleep 0.2; kill -CONT $$) & kill -STOP $$; wait; echo on");
  EXPECT_EQ(itself.out, "on\n");
}

}  // namespace
}  // namespace sandgate::test
