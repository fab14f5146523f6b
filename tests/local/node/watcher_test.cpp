#include "local/node/watch/watcher.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <vector>

namespace sandgate {
namespace {

// What a watcher has told of, in turn.
class WatcherTest : public ::testing::Test {
 protected:
  bool told_of(const std::vector<std::string>& ids) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(5), [&] { return told_ == ids; });
  }
  static Fd open_process(pid_t pid) {
    return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  }
  static pid_t sleeping() {
    const pid_t pid = fork();
    if (pid == 0) {
      pause();
      _exit(0);
    }
    return pid;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  Watcher watcher_{[this](const std::string& id) {
                     const std::lock_guard lock(mutex_);
                     told_.push_back(id);
                     changed_.notify_all();
                   },
                   [] {}};
};

TEST_F(WatcherTest, TellsOfAnEndOnce) {
  const pid_t pid = sleeping();
  watcher_.add("one", open_process(pid).get());
  kill(pid, SIGKILL);
  EXPECT_TRUE(told_of({"one"}));
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(told_of({"one"}));
}

// A waiting sandbox that dies as it is given to its owner, and is watched by another name then.
TEST_F(WatcherTest, WhatHasEndedCanBeWatchedAgain) {
  const pid_t pid = sleeping();
  const Fd process = open_process(pid);
  watcher_.add("waiting", process.get());
  kill(pid, SIGKILL);
  ASSERT_TRUE(told_of({"waiting"}));
  watcher_.add("owned", process.get());
  EXPECT_TRUE(told_of({"waiting", "owned"}));
  waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace sandgate
