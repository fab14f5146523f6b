#include "local/node/supervisor/sandbox_table.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "local/namespaces/step_error.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

class SandboxTableTest : public ::testing::Test {
 protected:
  LivePtr entered(const std::string& id, RecordState state = RecordState::running) {
    auto live = std::make_shared<LiveSandbox>();
    live->record.id = id;
    live->record.state = state;
    live->owned = state != RecordState::waiting;
    table_.insert(live);
    return live;
  }

  const TempDirectory home_;
  const Journal journal_{home_.path()};
  SandboxTable table_{journal_};
};

TEST_F(SandboxTableTest, AnIdIsTakenUntilItsTracesAreRemoved) {
  const LivePtr first = entered("one");
  EXPECT_EQ(code_of([&] { entered("one"); }), ErrorCode::conflict);
  table_.mark_gone(*first);
  EXPECT_FALSE(table_.find("one"));
  EXPECT_EQ(code_of([&] { table_.get("one"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { entered("one"); }), ErrorCode::conflict);
  table_.remove("one");
  entered("one");
  EXPECT_TRUE(table_.find("one"));
}

TEST_F(SandboxTableTest, ASeatIsHiddenUntilItHasAnOwner) {
  const LivePtr warm = entered("seat", RecordState::waiting);
  entered("taken");
  EXPECT_FALSE(table_.find("seat"));
  EXPECT_EQ(table_.list().size(), 1u);
  EXPECT_EQ(table_.warm().size(), 1u);

  JournalRecord owned = warm->record;
  owned.state = RecordState::running;
  owned.id = "taken";
  EXPECT_EQ(code_of([&] { table_.assign(warm, owned); }), ErrorCode::conflict);
  EXPECT_EQ(table_.lookup("seat"), warm);
  owned.id = "sb";
  table_.assign(warm, owned);
  EXPECT_EQ(table_.lookup("sb"), warm);
  EXPECT_FALSE(table_.lookup("seat"));
  EXPECT_TRUE(table_.warm().empty());
}

TEST_F(SandboxTableTest, TheExpiredAreTakenOnceOnly) {
  const LivePtr live = entered("old");
  entered("seat", RecordState::waiting);
  table_.update_in_memory(*live,
                          [](JournalRecord& record) { record.expires_at = from_micros(10); });
  EXPECT_TRUE(table_.take_expired(from_micros(10)).empty());
  EXPECT_EQ(table_.take_expired(from_micros(11)), std::vector<std::string>{"old"});
  EXPECT_TRUE(table_.take_expired(from_micros(11)).empty());
}

TEST(JournalRecord, AnEntryOfAnEarlierReleaseKeepsItsTimeToLive) {
  Json entry = to_json(JournalRecord{.id = "one"});
  entry.erase("expires_at_uptime");
  entry["expires_at"] = to_micros(SystemClock().now() + std::chrono::seconds(100));
  const auto left = sandbox_record_from(entry).expires_at - UptimeClock().now();
  EXPECT_GT(left, std::chrono::seconds(90));
  EXPECT_LT(left, std::chrono::seconds(110));
}

TEST_F(SandboxTableTest, AChangeIsInTheJournalOrNowhere) {
  const LivePtr live = entered("one");
  const auto pause = [&] {
    table_.update(*live, [](JournalRecord& record) {
      record.paused = true;
      record.paused_at = from_micros(7);
    });
  };
  // A file where its directory would be.
  std::ofstream(journal_.directory_of("one")) << "";
  EXPECT_EQ(code_of(pause), ErrorCode::unavailable);
  EXPECT_FALSE(table_.find("one")->paused);
  std::filesystem::remove(journal_.directory_of("one"));
  pause();
  EXPECT_TRUE(table_.find("one")->paused);
  EXPECT_TRUE(journal_.read_all().at(0).paused);
  EXPECT_EQ(journal_.read_all().at(0).paused_at, from_micros(7));
  table_.mark_gone(*live);
  EXPECT_EQ(code_of(pause), ErrorCode::not_found);
}

TEST_F(SandboxTableTest, NobodyWaitsForWhatIsBusy) {
  const LivePtr live = entered("one");
  const auto code = [&] {
    return std::async(std::launch::async, [&] { return code_of([&] { lock_sandbox(*live); }); })
        .get();
  };
  {
    const std::unique_lock busy(live->busy);
    EXPECT_EQ(code(), ErrorCode::timeout);
    const Copying copying(*live, true);
    EXPECT_EQ(code(), ErrorCode::conflict);
  }
  EXPECT_TRUE(lock_sandbox(*live));
  live->ending = true;
  EXPECT_EQ(code(), ErrorCode::conflict) << "nor begins anything with what ends";
}

// Taken for a broken one, its sandbox would be ended.
TEST_F(SandboxTableTest, AnEntryThatCannotBeOpenedNowIsNotBroken) {
  journal_.write(entered("one")->record);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const Fd lowest(dup(0));
  // Enough for the directory.
  const rlimit few{static_cast<rlim_t>(lowest.get()) + 2, before.rlim_max};
  int missing = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  try {
    journal_.read_all();
  } catch (const StepError& failure) {
    missing = failure.number;
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(missing, EMFILE);
  EXPECT_EQ(journal_.read_all().at(0).state, RecordState::running);
}

}  // namespace
}  // namespace sandgate::test
