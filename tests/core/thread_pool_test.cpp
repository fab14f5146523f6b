#include "gateway/core/thread_pool.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <vector>

#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

bool sleeps(const std::filesystem::path& thread) {
  std::string line;
  std::getline(std::ifstream(thread / "stat"), line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end, 3) == ") S";
}

// Whether all threads but the caller's come to rest. What holds a mutex does not sleep, so that a
// pool whose threads all do has none that is on its way to become idle.
bool all_rest() {
  return test::eventually([] {
    const auto threads = std::filesystem::directory_iterator("/proc/self/task");
    return std::ranges::all_of(threads, [](const auto& thread) {
      return thread.path().filename() == std::to_string(gettid()) || sleeps(thread.path());
    });
  });
}

std::thread::id one_that_ran(ThreadPool& threads) {
  std::thread::id id;
  std::latch done(1);
  threads.post([&] {
    id = std::this_thread::get_id();
    done.count_down();
  });
  done.wait();
  EXPECT_TRUE(all_rest());  // the answer comes before the thread is idle again
  return id;
}

TEST(ThreadPool, GiveWorkToTheOneThatWorkedLast) {
  ThreadPool threads(4);
  EXPECT_TRUE(all_rest());
  const std::thread::id first = one_that_ran(threads);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(one_that_ran(threads), first);
}

TEST(ThreadPool, AllWorkWhenThereIsWorkForAll) {
  constexpr int kThreads = 4;
  ThreadPool threads(kThreads);
  std::latch together(kThreads);  // never opens unless every thread takes a part
  for (int i = 0; i < kThreads; ++i) threads.post([&] { together.arrive_and_wait(); });
  threads.join();
}

TEST(ThreadPool, BeginInTheOrderOfPosting) {
  ThreadPool threads(1);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) threads.post([&order, i] { order.push_back(i); });
  threads.join();
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST(ThreadPool, RunEverythingBeforeTheyEnd) {
  std::atomic<int> ran{0};
  {
    ThreadPool threads(3);
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        for (int k = 0; k < 1000; ++k) threads.post([&] { ++ran; });
      });
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_EQ(ran, 4000);
}

}  // namespace
}  // namespace sandgate
