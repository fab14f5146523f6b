#include <chrono>

#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using ThroughputTest = AgentTest;

constexpr uint64_t kBytes = 512u * 1024u * 1024u;
constexpr double kMiB = 1024.0 * 1024.0;

// Low on purpose: a machine that is busy, or a build that checks everything, is no failure.
constexpr double kMinMiBPerSecond = 20;

class Zeros : public ByteSource {
 public:
  Task<size_t> read(std::span<char> into) override {
    const size_t count = std::min<uint64_t>(into.size(), left_);
    left_ -= count;
    co_return count;
  }

 private:
  uint64_t left_ = kBytes;
};

template <class F>
double mib_per_second(F work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(kBytes) / kMiB / took.count();
}

TEST_F(ThroughputTest, StreamsLargeFiles) {
  exec("truncate -s 512M sparse");
  const double down = mib_per_second([&] {
    go([&]() -> Task<void> {
      const ByteRange all;
      auto content = co_await client_.read_file("sparse", all);
      std::vector<char> buffer(256 * 1024);
      uint64_t total = 0;
      while (const size_t got = co_await content.bytes->read(buffer)) total += got;
      EXPECT_EQ(total, kBytes);
    });
  });
  Zeros zeros;
  const double up = mib_per_second(
      [&] { go([&] { return client_.write_file("/dev/shm/sandgate-throughput", 0644, zeros); }); });
  go([&] { return client_.remove("/dev/shm/sandgate-throughput", false); });
  RecordProperty("read_mib_per_second", static_cast<int>(down));
  RecordProperty("write_mib_per_second", static_cast<int>(up));
  EXPECT_GT(down, kMinMiBPerSecond);
  EXPECT_GT(up, kMinMiBPerSecond);
  std::printf("read %.0f MiB/s, write %.0f MiB/s\n", down, up);
}

TEST_F(ThroughputTest, FirstExecIsFast) {
  exec("true");
  Command command;
  command.argv = {"/bin/true"};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) exec(command);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("exec of true: %.2f ms\n", took.count() / 50);
  EXPECT_LT(took.count() / 50, 100);
}

}  // namespace
}  // namespace sandgate::test
