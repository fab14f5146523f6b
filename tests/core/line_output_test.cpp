#include "gateway/core/line_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <thread>

namespace sandgate {
namespace {

constexpr int kLines = 300;

std::string line_of(int number, size_t length = 1000) {
  std::string line = std::to_string(number);
  return line + std::string(length - line.size(), '.') + "\n";
}

std::string note_of_lost(uint64_t left_out) {
  return "left out " + std::to_string(left_out) + "\n";
}

// A pipe or a pair of sockets. What lies in it can be read without waiting.
class Ends {
 public:
  explicit Ends(bool sockets) {
    const int made =
        sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) : pipe(ends_.data());
    EXPECT_EQ(made, 0);
    if (sockets) std::swap(ends_[0], ends_[1]);
    fcntl(reader(), F_SETFL, O_NONBLOCK);
  }
  ~Ends() {
    for (const int end : ends_) close(end);
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }

  std::vector<std::string> read_lines() {
    std::array<char, 65536> buffer;
    for (ssize_t got; (got = read(reader(), buffer.data(), buffer.size())) > 0;)
      rest_.append(buffer.data(), static_cast<size_t>(got));
    std::vector<std::string> lines;
    for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1))
      lines.push_back(rest_.substr(0, end + 1));
    return lines;
  }

 private:
  std::array<int, 2> ends_{};
  std::string rest_;
};

class OutputTo : public testing::TestWithParam<bool> {
 protected:
  Ends ends_{GetParam()};
  LineOutput output_{ends_.writer(), note_of_lost};
};

TEST_P(OutputTo, NobodyIsNotWaitedFor) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kLines; ++i) output_.write(line_of(i));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_LT(ends_.read_lines().size(), size_t{kLines});
}

// A note may fit where a line did not, so there may be several.
TEST_P(OutputTo, WhoReadsAgainIsToldHowMuchIsMissing) {
  for (int i = 0; i < kLines; ++i) output_.write(line_of(i));
  auto lines = ends_.read_lines();
  output_.write("next\n");
  output_.write("last\n");
  std::ranges::move(ends_.read_lines(), std::back_inserter(lines));
  ASSERT_GT(lines.size(), 3U);
  EXPECT_EQ(lines.back(), "last\n");
  EXPECT_EQ(lines[lines.size() - 2], "next\n");
  lines.resize(lines.size() - 2);
  int next = 0, missing = 0;
  for (const std::string& line : lines) {
    int left_out = 0;
    if (std::sscanf(line.c_str(), "left out %d\n", &left_out) == 1)
      missing += left_out;
    else
      EXPECT_EQ(line, line_of(next++ + missing));
  }
  EXPECT_GT(missing, 0);
  EXPECT_EQ(next + missing, kLines);
}

TEST_P(OutputTo, WhoIsALittleSlowMissesNothing) {
  std::vector<std::string> all;
  std::jthread slow([&](const std::stop_token& stop) {
    for (bool last = false; !last;) {
      last = stop.stop_requested();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      for (auto& line : ends_.read_lines()) all.push_back(std::move(line));
    }
  });
  for (int i = 0; i < kLines; ++i) output_.write(line_of(i));
  slow.request_stop();
  slow.join();
  ASSERT_EQ(all.size(), size_t{kLines});
  EXPECT_EQ(all.back(), line_of(kLines - 1));
}

TEST_P(OutputTo, ALongLineStaysWhole) {
  const std::string huge = line_of(0, 1 << 20);
  output_.write(huge);
  output_.write("missing\n");
  std::vector<std::string> read;
  for (int i = 0; read.size() < 3 && i < 100; ++i) {
    for (auto& line : ends_.read_lines()) read.push_back(std::move(line));
    output_.write("after\n");
  }
  ASSERT_GE(read.size(), 3U);
  EXPECT_EQ(read[0], huge);
  EXPECT_TRUE(read[1].starts_with("left out ")) << read[1];
  EXPECT_EQ(read[2], "after\n");
}

INSTANTIATE_TEST_SUITE_P(LineOutput, OutputTo, testing::Bool(),
                         [](const auto& one) { return one.param ? "Sockets" : "APipe"; });

}  // namespace
}  // namespace sandgate
