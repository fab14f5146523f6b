#include "gateway/compat/e2b/create_request.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"

namespace sandgate::compat::e2b {
namespace {

std::string refused(const char* text) {
  try {
    create_request_from(Json::parse(text));
  } catch (const Error& error) {
    return error.fields.empty() ? "" : error.fields.front().path;
  }
  return "taken";
}

TEST(CreateRequest, SpeaksOurWords) {
  const auto made = create_request_from(
      Json::parse(R"({"templateID":"base:stable","timeout":60,"metadata":{"a":"b"},"secure":true,
        "envVars":{"X":"1"},"allow_internet_access":false,"autoPause":false,"mcp":null})"));
  EXPECT_EQ(made.profile, "base@stable");
  EXPECT_EQ(made.body, Json::parse(R"({"metadata":{"a":"b"},"env":{"X":"1"},
    "network":{"default":"deny","allow":[]}})"));
  EXPECT_EQ(made.timeout, 60);
  EXPECT_EQ(made.auto_pause, false);
  EXPECT_TRUE(made.public_ports);
}

TEST(CreateRequest, AsksForNothingMoreThanTheClientDoes) {
  const auto made = create_request_from(Json::parse(R"({"templateID":"base","timeout":null})"));
  EXPECT_EQ(made.body, Json::object());
  EXPECT_EQ(made.timeout, std::nullopt);
}

TEST(CreateRequest, KnowsASnapshotByItsForm) {
  const SnapshotId id = SnapshotId::make();
  const auto made = create_request_from({{"templateID", id.value}});
  EXPECT_EQ(made.snapshot, id);
}

TEST(CreateRequest, RefusesWhatItCannotHonour) {
  EXPECT_EQ(refused(R"({})"), "/templateID");
  EXPECT_EQ(refused(R"({"templateID":"base","timeout":0})"), "/timeout");
  EXPECT_EQ(refused(R"({"templateID":"base","timeout":31536001})"), "/timeout");
  EXPECT_EQ(refused(R"({"templateID":"base","mcp":{"x":{}}})"), "/mcp");
  EXPECT_EQ(refused(R"({"templateID":"base","volumeMounts":[{"name":"v"}]})"), "/volumeMounts");
  EXPECT_EQ(refused(R"({"templateID":"base","network":{"denyOut":["192.0.2.1"]}})"),
            "/network/denyOut/0");
  EXPECT_EQ(refused(R"({"templateID":"base","network":{"httpsPorts":[3000]}})"),
            "/network/httpsPorts");
  EXPECT_EQ(refused(R"({"templateID":"base","autoPauseMemory":false})"), "/autoPauseMemory");
  EXPECT_EQ(refused(R"({"templateID":"base","future":1})"), "/future");
  EXPECT_EQ(refused(R"({"templateID":"base","network":{"allowPublicTraffic":false,"denyOut":[]}})"),
            "taken");
}

TEST(CreateRequest, NarrowsTheWayOut) {
  const auto made =
      create_request_from(Json::parse(R"({"templateID":"base","network":{"allowPublicTraffic":false,
        "denyOut":["0.0.0.0/0"],"allowOut":["example.com"]}})"));
  EXPECT_EQ(made.body["network"],
            Json::parse(R"({"default":"deny","allow":["example.com:80","example.com:443"]})"));
  EXPECT_FALSE(made.public_ports);
}

TEST(CreateRequest, LeavesTheEndToTheProfile) {
  Profile kills, pauses;
  pauses.on_expiry = EndAction::pause;
  pauses.auto_resume = true;
  const auto asks = [](const char* text) { return create_request_from(Json::parse(text)); };
  const auto pausing = asks(R"({"templateID":"b","autoPause":true,"autoResume":{"enabled":true}})");
  EXPECT_NO_THROW(check_profile_allows(pauses, pausing));
  EXPECT_THROW(check_profile_allows(kills, pausing), Error);
  EXPECT_THROW(check_profile_allows(pauses, asks(R"({"templateID":"b","autoPause":false})")),
               Error);
  EXPECT_NO_THROW(check_profile_allows(pauses, asks(R"({"templateID":"b"})")));
}

}  // namespace
}  // namespace sandgate::compat::e2b
