#include <gtest/gtest.h>

#include "gateway/core/database.hpp"
#include "gateway/core/log.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using test::TestDatabase;

class DatabaseLogTest : public testing::Test {
 protected:
  DatabaseLogTest() { log::configure(log::Format::text, "info"); }
  ~DatabaseLogTest() override { log::configure(before_); }

  std::optional<ErrorCode> ask() {
    return test::code_of(database_->run([](pqxx::work& tx) { tx.exec("SELECT 1"); }));
  }
  bool answers() {
    return test::eventually([&] { return !ask(); });
  }
  static size_t lines_of(const std::string& text, const std::string& event) {
    size_t count = 0;
    for (size_t at = text.find(event); at != std::string::npos; at = text.find(event, at + 1))
      ++count;
    return count;
  }

 private:
  const nlohmann::json before_ = log::settings();
  const test::OwnCluster own_;

 protected:
  TestDatabase database_{TestDatabase::Schema::empty};
};

TEST_F(DatabaseLogTest, AnOutageHasOneLineAtItsBeginAndOneAtItsEnd) {
  ASSERT_TRUE(answers());
  testing::internal::CaptureStderr();
  TestDatabase::stop_cluster();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < until) EXPECT_EQ(ask(), ErrorCode::unavailable);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines_of(text, "database unreachable"), 1u) << text;
  EXPECT_EQ(lines_of(text, "reachable again"), 0u) << text;

  testing::internal::CaptureStderr();
  TestDatabase::start_cluster();
  EXPECT_TRUE(answers());
  EXPECT_FALSE(ask());
  text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines_of(text, "database reachable again"), 1u) << text;
  EXPECT_EQ(lines_of(text, "database unreachable"), 0u) << text;
}

TEST_F(DatabaseLogTest, AServerThatTakesNoWritesIsToldOfOnce) {
  ASSERT_TRUE(answers());
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(test::code_of(database_->run(
                  [](pqxx::work& tx) { tx.exec("SET TRANSACTION READ ONLY; CREATE TABLE t ()"); })),
              ErrorCode::unavailable);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines_of(text, "the database cannot do this now"), 1u) << text;
}

}  // namespace
}  // namespace sandgate
