#include "providers/transport/merged_streams.hpp"

#include <gtest/gtest.h>

#include "providers/transport/event_stream.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate {
namespace {

using MergedEvents = MergedStreams<EventReader>;

// Never ends and never says anything; knows when nobody waits for it any more.
class SilentBytes : public ByteSource {
 public:
  explicit SilentBytes(bool& cancelled) : cancelled_(cancelled) {}
  Task<size_t> read(std::span<char>) override {
    asio::steady_timer never(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    try {
      co_await never.async_wait(asio::use_awaitable);
    } catch (const boost::system::system_error&) {
      cancelled_ = true;
      throw;
    }
    co_return 0;
  }

 private:
  bool& cancelled_;
};

class BrokenBytes : public ByteSource {
 public:
  Task<size_t> read(std::span<char>) override {
    throw Error(ErrorCode::unavailable, "broken");
    co_return 0;
  }
};

std::string events(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "data: " + std::to_string(i) + "\n\n";
  return text;
}

template <class... Sources>
std::vector<std::unique_ptr<EventReader>> readers(Sources... sources) {
  std::vector<std::unique_ptr<EventReader>> all;
  (all.push_back(std::make_unique<EventReader>(std::move(sources))), ...);
  return all;
}

TEST(MergedEvents, NothingIsLostAndEachStreamKeepsItsOrder) {
  test::LiveLoop loop;
  MergedEvents merged(loop.executor(), readers(std::make_unique<TextBytes>(events(100)),
                                               std::make_unique<TextBytes>(events(50))));
  std::vector<int> next(2);
  while (auto item = loop.run(merged.next()))
    EXPECT_EQ(item->event.data, std::to_string(next[item->source]++));
  EXPECT_EQ(next, (std::vector{100, 50}));
  EXPECT_FALSE(loop.run(merged.next()));
}

TEST(MergedEvents, ABrokenStreamIsAnError) {
  test::LiveLoop loop;
  MergedEvents merged(loop.executor(), readers(std::make_unique<BrokenBytes>()));
  EXPECT_THROW(loop.run(merged.next()), Error);
}

TEST(MergedEvents, DroppingItStopsItsStreams) {
  test::LiveLoop loop;
  bool cancelled = false;
  auto merged = std::make_unique<MergedEvents>(loop.executor(),
                                               readers(std::make_unique<SilentBytes>(cancelled)));
  loop.run(sleep_for(std::chrono::milliseconds(0)));
  merged.reset();
  for (int turn = 0; turn < 100 && !cancelled; ++turn)
    loop.run(sleep_for(std::chrono::milliseconds(0)));
  EXPECT_TRUE(cancelled);
}

}  // namespace
}  // namespace sandgate
