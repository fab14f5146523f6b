#include "gateway/compat/e2b/watchers.hpp"

#include <gtest/gtest.h>

namespace sandgate::compat::e2b {
namespace {

// Of a directory in which nothing happens.
class QuietWatch : public FileWatch {
 public:
  Task<std::optional<FileChange>> next() override {
    co_await sleep_for(std::chrono::hours(1));
    co_return std::nullopt;
  }
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

}  // namespace
}  // namespace sandgate::compat::e2b
