#include <gtest/gtest.h>

#include "providers/blaxel/blaxel.hpp"
#include "providers/daytona/daytona.hpp"
#include "providers/opensandbox/opensandbox.hpp"
#include "providers/vercel/vercel.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

// A time to live that a vendor does not give is the caller's mistake in that field.
namespace sandgate::test {
namespace {

class Extensions : public testing::Test {
 protected:
  template <class Adapter, class Settings>
  Error refused(std::deque<HttpReply> replies, Settings settings = {}) {
    const auto provider = std::make_shared<Adapter>(client_, loop_.executor(), std::move(settings));
    replies.push_back({400, {}, "{}"});
    client_.script(std::move(replies));
    const auto outcome = loop_.run(attempt(provider->extend("b1", std::chrono::hours(48))));
    const auto* error = std::get_if<Error>(&outcome);
    return error ? *error : Error(ErrorCode::internal, "it was extended");
  }

  LiveLoop loop_;
  ScriptedClient client_;
};

HttpReply box_of_vendor(const Json& document) { return {200, {}, document.dump()}; }

void expect_field(const Error& error) {
  EXPECT_EQ(error.code, ErrorCode::invalid) << error.what();
  ASSERT_EQ(error.fields.size(), 1u);
  EXPECT_EQ(error.fields[0].path, "/ttl_seconds");
}

TEST_F(Extensions, ARefusalNamesTheTimeToLive) {
  const std::string born = "2026-11-27T08:00:00Z";
  expect_field(refused<DaytonaProvider, DaytonaSettings>({}));
  const HttpReply blaxel = box_of_vendor({{"metadata", {{"name", "b1"}, {"createdAt", born}}},
                                          {"spec", {{"runtime", Json::object()}}}});
  expect_field(refused<BlaxelProvider, BlaxelSettings>({blaxel}));
  expect_field(refused<OpenSandboxProvider, OpenSandboxSettings>({}));
  const HttpReply vercel =
      box_of_vendor({{"sandbox", {{"name", "b1"}, {"status", "running"}}},
                     {"session", {{"id", "s1"}, {"startedAt", 1000}, {"timeout", 500}}}});
  const Error error = refused<VercelProvider, VercelSettings>({vercel});
  expect_field(error);
  EXPECT_NE(std::string(error.what()).find("1970-01-01T00:00:01.5"), std::string::npos);
}

}  // namespace
}  // namespace sandgate::test
