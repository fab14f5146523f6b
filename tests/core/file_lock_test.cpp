#include "gateway/core/file_lock.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;

TEST(FileLock, IsHeldByOneAtATime) {
  test::TempDirectory directory;
  const std::string path = directory.path() + "/lock";
  {
    const auto first = FileLock::take(path);
    EXPECT_TRUE(first);
    EXPECT_FALSE(FileLock::take(path));
    EXPECT_EQ(test::code_of([&] { FileLock::wait(path, 20ms); }), ErrorCode::unavailable);
  }
  EXPECT_TRUE(FileLock::take(path));
  EXPECT_EQ(test::code_of([] { FileLock::take("/none/lock"); }), ErrorCode::unavailable);
}

TEST(FileLock, EndsWithItsProcess) {
  test::TempDirectory directory;
  const std::string path = directory.path() + "/lock";
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto lock = FileLock::take(path);
    if (write(told[1], "x", 1) == 1) pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(told[0], &byte, 1), 1);
  EXPECT_FALSE(FileLock::take(path));
  kill(holder, SIGKILL);
  FileLock::wait(path, 10s);
  waitpid(holder, nullptr, 0);
  close(told[0]);
  close(told[1]);
}

}  // namespace
}  // namespace sandgate
