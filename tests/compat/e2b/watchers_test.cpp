#include "gateway/compat/e2b/watchers.hpp"

#include <gtest/gtest.h>

namespace sandgate::compat::e2b {
namespace {

// Of a directory in which nothing happens.
class QuietWatch : public FileWatch {
 public:
  Task<std::vector<FileChange>> next() override {
    co_await sleep_for(std::chrono::hours(1));
    co_return std::vector<FileChange>();
  }
};

// Of a directory in which a file is written this often at once.
class BusyWatch : public QuietWatch {
 public:
  explicit BusyWatch(int writes) : left_(writes) {}
  Task<std::vector<FileChange>> next() override {
    if (left_-- > 0) co_return std::vector{FileChange{.path = "/written"}};
    auto quiet = QuietWatch::next();
    co_return co_await std::move(quiet);
  }

 private:
  int left_;
};

TEST(Watchers, CountAmongTheStreamsUntilTheyAreRemoved) {
  asio::io_context loop;
  Watchers watchers;
  auto permit = std::make_shared<int>(0);
  const std::weak_ptr<int> held = permit;
  const SandboxId box = SandboxId::make();
  const std::string id = watchers.add(loop.get_executor(), {.id = box},
                                      std::make_unique<QuietWatch>(), "/", std::move(permit));
  loop.run_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(held.expired());
  EXPECT_TRUE(watchers.take(box, id).empty());
  watchers.remove(box, id);
  // Ends when all work has ended.
  loop.run_for(std::chrono::seconds(10));
  EXPECT_TRUE(held.expired());
}

// Of a directory that goes at once.
class LostWatch : public FileWatch {
 public:
  explicit LostWatch(std::shared_ptr<void> held) : held_(std::move(held)) {}
  Task<std::vector<FileChange>> next() override { co_return std::vector<FileChange>(); }

 private:
  std::shared_ptr<void> held_;
};

TEST(Watchers, ThatFailedHoldNoStreamButTellWhy) {
  asio::io_context loop;
  Watchers watchers;
  auto permit = std::make_shared<int>(0), held = std::make_shared<int>(0);
  const std::weak_ptr<int> stream = permit, watch = held;
  const SandboxId box = SandboxId::make();
  const std::string id =
      watchers.add(loop.get_executor(), {.id = box}, std::make_unique<LostWatch>(std::move(held)),
                   "/", std::move(permit));
  loop.run_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(stream.expired());
  EXPECT_TRUE(watch.expired());
  EXPECT_THROW(watchers.take(box, id), Error);
  watchers.remove(box, id);
  EXPECT_THROW(watchers.remove(box, id), Error);
  loop.run_for(std::chrono::seconds(10));
}

TEST(Watchers, OfATenantShareTheRoomForEvents) {
  asio::io_context loop;
  Watchers watchers({.uncounted = 0, .total = 1 << 20, .per_tenant = 4000});
  const SandboxId box = SandboxId::make();
  const auto watch = [&] {
    const std::string id = watchers.add(loop.get_executor(), {.id = box},
                                        std::make_unique<BusyWatch>(5), "/", nullptr);
    loop.run_for(std::chrono::milliseconds(10));
    return id;
  };
  const std::string first = watch(), second = watch();
  EXPECT_EQ(watchers.take(box, first).size(), 5u);
  EXPECT_THROW(watchers.take(box, second), Error);
  const std::string third = watch();
  EXPECT_EQ(watchers.take(box, third).size(), 5u);
  for (const std::string& id : {first, second, third}) watchers.remove(box, id);
  loop.run_for(std::chrono::seconds(10));
}

}  // namespace
}  // namespace sandgate::compat::e2b
