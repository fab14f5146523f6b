#include "gateway/core/fair_semaphore.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sandgate {
namespace {

class FairSemaphoreTest : public ::testing::Test {
 protected:
  void ask(std::string name) {
    asio::co_spawn(
        loop_,
        [this, name]() -> Task<void> {
          FairSemaphore::Slot slot = co_await slots_.acquire(name);
          begun_ += name;
          held_.emplace(name, std::move(slot));
        },
        asio::detached);
    settle();
  }
  void end(const std::string& name) {
    held_.erase(held_.find(name));
    settle();
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_{1};
  FairSemaphore slots_{3, 2};
  std::string begun_;
  std::multimap<std::string, FairSemaphore::Slot> held_;
};

TEST_F(FairSemaphoreTest, NobodyHasAll) {
  for (const char* name : {"a", "a", "a", "a"}) ask(name);
  EXPECT_EQ(begun_, "aa");
  ask("b");
  EXPECT_EQ(begun_, "aab");
  ask("b");
  EXPECT_EQ(begun_, "aab") << "no more at once";
}

// A slot that a waiter is given after it has left would be lost.
TEST_F(FairSemaphoreTest, WhoeverIsCancelledLeavesTheLine) {
  for (const char* name : {"a", "a"}) ask(name);
  asio::cancellation_signal cancel;
  bool aborted = false;
  const auto wait = [this]() -> Task<void> { co_await slots_.acquire("a"); };
  const auto ended = [&](std::exception_ptr failure) { aborted = failure != nullptr; };
  asio::co_spawn(loop_, wait, asio::bind_cancellation_slot(cancel.slot(), ended));
  settle();
  ask("a");
  cancel.emit(asio::cancellation_type::terminal);
  settle();
  EXPECT_TRUE(aborted);
  EXPECT_EQ(begun_, "aa");
  end("a");
  EXPECT_EQ(begun_, "aaa");
  end("a");
  ask("a");
  EXPECT_EQ(begun_, "aaaa");
}

TEST_F(FairSemaphoreTest, WhoeverCameLaterWaitsForOneOfTheOthersOnly) {
  for (const char* name : {"a", "a", "a", "a", "b", "b", "c"}) ask(name);
  EXPECT_EQ(begun_, "aab");
  end("a");
  EXPECT_EQ(begun_, "aaba") << "first come";
  end("a");
  EXPECT_EQ(begun_, "aabab");
  end("b");
  EXPECT_EQ(begun_, "aababc") << "before the fourth of a";
  end("b");
  EXPECT_EQ(begun_, "aababca");
  for (const char* name : {"a", "a", "c"}) end(name);
  ask("c");
  EXPECT_EQ(begun_, "aababcac");
}

}  // namespace
}  // namespace sandgate
