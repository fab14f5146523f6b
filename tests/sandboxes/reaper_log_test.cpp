#include <atomic>
#include <future>

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "tests/sandboxes/outage_world.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using test::OutageWorld;
using test::run;
using test::TestDatabase;

// How often the text has the line of this event and step.
size_t lines_about(const std::string& text, const std::string& event, const std::string& step) {
  const std::string line = event + " step=\"" + step + '"';
  size_t count = 0;
  for (size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) ++count;
  return count;
}

Task<void> wait_for(const std::atomic<bool>& over) {
  while (!over) co_await sleep_for(milliseconds(50));
}

TEST(ReaperLog, AnOutageHasOneLineOfEachStepAtItsBeginAndOneAtItsEnd) {
  const nlohmann::json before = log::settings();
  log::configure(log::Format::text, "info");
  OutageWorld world;
  Reaper reaper(*world.lifecycle, {.expiry_every = milliseconds(50),
                                   .stopping_every = milliseconds(50),
                                   .unknown_every = milliseconds(50)});
  testing::internal::CaptureStderr();
  TestDatabase::stop_cluster();
  std::atomic<bool> over = false;
  auto reaping =
      std::async(std::launch::async, [&] { run(ends_before(wait_for(over), reaper.run())); });
  run(sleep_for(milliseconds(2000)));
  TestDatabase::start_cluster();
  run(sleep_for(milliseconds(3000)));
  over = true;
  reaping.get();
  run(reaper.drain());
  const std::string text = testing::internal::GetCapturedStderr();
  log::configure(before);
  for (const char* step : {"expire", "finish_pausing", "finish", "abandon", "clean_snapshots"}) {
    EXPECT_EQ(lines_about(text, "the reaper was interrupted", step), 1u) << step << " in\n" << text;
    EXPECT_EQ(lines_about(text, "the reaper goes on", step), 1u) << step << " in\n" << text;
  }
}

}  // namespace
}  // namespace sandgate
