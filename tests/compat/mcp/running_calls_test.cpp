#include "gateway/compat/mcp/running_calls.hpp"

#include <gtest/gtest.h>

#include "gateway/core/settle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::compat::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLong{60};

// One gateway of the database.
struct Replica {
  explicit Replica(const std::string& url)
      : database({.url = url, .connections = 1}), notifications(url) {}
  ~Replica() { notifications.stop(); }

  Database database;
  Notifications notifications;
  RunningCalls calls{database, notifications};
};

// A call that takes so long; `ended` says that it was not cancelled.
Task<Json> call_of(std::shared_ptr<bool> ended, seconds time) {
  co_await sleep_for(time);
  *ended = true;
  co_return Json("done");
}

// Cancels the call of that id, or all calls of the session if there is none, again and again until
// the main task ends.
Task<void> cancel_often(RunningCalls& calls, SessionId session, Json id) {
  for (;;) {
    auto cancelling = id.is_null() ? calls.cancel_all(session) : calls.cancel(session, id);
    co_await std::move(cancelling);
    co_await sleep_for(milliseconds(50));
  }
}

struct McpRunningCallsTest : testing::Test {
  // The result of the call `id` of the session while `cancelled` of `by` is cancelled at `where`.
  std::optional<Json> result(const Json& id, RunningCalls& where, const SessionId& by,
                             const Json& cancelled, seconds time = seconds(1)) {
    auto running = here.calls.run(session, id, call_of(ended, time));
    return test::run(with_companion(std::move(running), cancel_often(where, by, cancelled)));
  }

  test::TestDatabase database;
  Replica here{database.url()}, there{database.url()};
  const SessionId session = SessionId::make();
  const std::shared_ptr<bool> ended = std::make_shared<bool>(false);
};

TEST_F(McpRunningCallsTest, EndWhenTheirClientCancelsThem) {
  for (const Json& id : {Json(7), Json("a \"b\"")}) {
    EXPECT_EQ(result(id, here.calls, session, id, kLong), std::nullopt) << id;
    EXPECT_FALSE(*ended);
  }
}

TEST_F(McpRunningCallsTest, AreNotCancelledByOthers) {
  EXPECT_EQ(result(7, here.calls, SessionId::make(), 7), Json("done"));
  for (const Json& id : {Json(8), Json("7")})
    EXPECT_EQ(result(7, here.calls, session, id), Json("done")) << id;
}

TEST_F(McpRunningCallsTest, AreCancelledThroughAnotherGateway) {
  here.notifications.start();
  EXPECT_EQ(result(7, there.calls, session, 7, kLong), std::nullopt);
  EXPECT_FALSE(*ended);
}

TEST_F(McpRunningCallsTest, EndWithTheirSession) {
  here.notifications.start();
  // First: what another gateway has cancelled may be told late, and would end this call.
  EXPECT_EQ(result(7, here.calls, SessionId::make(), nullptr), Json("done"));
  *ended = false;
  for (RunningCalls* where : {&here.calls, &there.calls}) {
    EXPECT_EQ(result(7, *where, session, nullptr, kLong), std::nullopt);
    EXPECT_FALSE(*ended);
  }
}

TEST_F(McpRunningCallsTest, EndAsTheirTaskDoes) {
  const auto fail = []() -> Task<Json> {
    throw Error(ErrorCode::conflict, "no");
    co_return Json();
  };
  EXPECT_THROW(test::run(here.calls.run(session, 1, fail())), Error);
  test::run(here.calls.cancel(session, 1));
}

}  // namespace
}  // namespace sandgate::compat::mcp
