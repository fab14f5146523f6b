#include "gateway/core/refreshing_cache.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;
using Cache = RefreshingCache<int>;

// A source with switches: what it answers, and how often it was asked.
struct Source {
  Cache::Load load() {
    return [this](std::string) -> Task<std::optional<int>> {
      ++asked;
      if (delay > 0ms) co_await sleep_for(delay);
      if (away) throw Error(ErrorCode::unavailable, "away");
      co_return value;
    };
  }
  std::optional<int> value = 1;
  std::atomic<int> asked{0};
  bool away = false;
  std::chrono::milliseconds delay{0};
};

constexpr Cache::Options kAlwaysOld{.soft = 0ms, .hard = 0ms, .pause_after_failure = 0ms};
constexpr Cache::Options kNeverOld{.soft = 1h, .hard = 1h};

int get(Cache& cache, const char* key = "k") {
  const auto value = run(cache.get(key));
  return value ? *value : -1;
}

TEST(RefreshingCache, AsksOnceWhileYoung) {
  Source source;
  Cache cache(kNeverOld, source.load());
  EXPECT_FALSE(cache.peek("k"));
  EXPECT_EQ(get(cache), 1);
  EXPECT_EQ(get(cache), 1);
  EXPECT_EQ(**cache.peek("k"), 1);
  EXPECT_EQ(source.asked, 1);
  source.value = 2;
  cache.expire("k");
  EXPECT_EQ(get(cache), 2);
  source.value.reset();
  cache.expire_all();
  EXPECT_EQ(get(cache), -1);
  EXPECT_EQ(get(cache), -1);
  EXPECT_EQ(source.asked, 3);
}

TEST(RefreshingCache, RenewsInTheBackgroundBetweenSoftAndHard) {
  Source source;
  Cache cache({.soft = 0ms, .hard = 1h}, source.load());
  EXPECT_EQ(get(cache), 1);
  source.value = 2;
  EXPECT_EQ(get(cache), 1);
  EXPECT_EQ(get(cache), 2);
}

TEST(RefreshingCache, ManyWhoWaitCauseOneLoad) {
  Source source;
  source.delay = 20ms;
  Cache cache(kNeverOld, source.load());
  asio::thread_pool threads(4);
  std::vector<std::future<Cache::Shared>> waiting;
  for (int i = 0; i < 100; ++i)
    waiting.push_back(asio::co_spawn(threads, cache.get("k"), asio::use_future));
  for (auto& one : waiting) EXPECT_EQ(*one.get(), 1);
  threads.join();
  EXPECT_EQ(source.asked, 1);
}

TEST(RefreshingCache, WhoComesAfterAChangeDoesNotGetWhatWasReadBeforeIt) {
  Source source;
  OneShotEvent hold;
  Cache cache(kNeverOld, [&](std::string) -> Task<std::optional<int>> {
    const int read = *source.value;
    if (++source.asked == 1) co_await hold.wait();
    co_return read;
  });
  asio::thread_pool thread(1);
  auto before = asio::co_spawn(thread, cache.get("k"), asio::use_future);
  while (source.asked == 0) std::this_thread::yield();
  source.value = 2;
  cache.expire("k");
  auto after = asio::co_spawn(thread, cache.get("k"), asio::use_future);
  asio::post(thread, [&] { hold.set(); });
  EXPECT_EQ(*after.get(), 2);
  before.wait();
  thread.join();
}

TEST(RefreshingCache, ServesWhatItKnowsInAnOutage) {
  Source source;
  Cache cache(kAlwaysOld, source.load());
  EXPECT_EQ(get(cache), 1);
  source.away = true;
  EXPECT_EQ(get(cache), 1);
  cache.expire_all();
  EXPECT_EQ(get(cache), 1);
  EXPECT_THROW(get(cache, "other"), Error);
  cache.expire("k");
  EXPECT_THROW(get(cache), Error);
  source.away = false;
  EXPECT_EQ(get(cache), 1);
}

TEST(RefreshingCache, AnOutageHasAnEnd) {
  Source source;
  Cache cache({.soft = 0ms, .hard = 0ms, .outage = 0ms}, source.load());
  EXPECT_EQ(get(cache), 1);
  source.away = true;
  EXPECT_THROW(get(cache), Error);
}

TEST(RefreshingCache, IsBoundedInSizeAndInFirstLoads) {
  Source source;
  Cache cache({.capacity = 16, .soft = 1h, .hard = 1h, .max_first_loads = 1}, source.load());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(get(cache, std::to_string(i).c_str()), 1);
  EXPECT_FALSE(cache.peek("0"));
  source.delay = 50ms;
  asio::io_context loop;
  auto first = asio::co_spawn(loop, cache.get("a"), asio::use_future);
  auto second = asio::co_spawn(loop, cache.get("b"), asio::use_future);
  loop.run();
  EXPECT_EQ(*first.get(), 1);
  EXPECT_THROW(second.get(), Error);
  EXPECT_EQ(get(cache, "b"), 1);
}

}  // namespace
}  // namespace sandgate
