#include "providers/sandgate/sandgate_wire.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

Json metrics_with(const char* name, Json value) {
  Json document{{"cpu_used_percent", 1.5}, {"cpu_seconds", 2.5},
                {"memory_used_mib", 3},    {"memory_limit_mib", 512},
                {"disk_used_mib", 4},      {"egress_bytes", 1000},
                {"processes", 2},          {"sampled_at", "2026-11-20T12:00:00Z"}};
  document[name] = std::move(value);
  return document;
}

TEST(SandgateWire, AnOddMemberOfMetricsLeavesTheOthers) {
  for (const Json& odd : {Json(10.7), Json("12"), Json(-1), Json(nullptr), Json(1e30)}) {
    const SandboxMetrics metrics = wire::to_metrics(metrics_with("egress_bytes", odd));
    EXPECT_EQ(metrics.egress_bytes, wire::kUnreadCounter) << odd;
    EXPECT_EQ(metrics.cpu_micros, 2'500'000) << odd;
  }
  for (const Json& odd : {Json(1e15), Json("2.5"), Json(-0.5), Json(nullptr)}) {
    const SandboxMetrics metrics = wire::to_metrics(metrics_with("cpu_seconds", odd));
    EXPECT_EQ(metrics.cpu_micros, wire::kUnreadCounter) << odd;
    EXPECT_EQ(metrics.egress_bytes, 1000) << odd;
  }
  EXPECT_EQ(wire::to_metrics(metrics_with("processes", "two")).egress_bytes, 1000);
}

TEST(SandgateWire, MetricsOfNoMomentAreNone) {
  EXPECT_THROW(wire::to_metrics(metrics_with("sampled_at", "lately")), Error);
  EXPECT_THROW(wire::to_metrics(metrics_with("sampled_at", nullptr)), Error);
  EXPECT_THROW(wire::to_metrics(Json::array()), Error);
}

TEST(SandgateWire, AChangeHasTheTypeOfTheFile) {
  for (const FileType type :
       {FileType::file, FileType::directory, FileType::symlink, FileType::other}) {
    const Json data{{"path", "/a"}, {"type", to_string(type)}};
    const auto change = wire::to_file_change({.name = "create", .data = data.dump()});
    ASSERT_TRUE(change);
    EXPECT_EQ(change->type, type);
  }
}

TEST(SandgateWire, AnIdIsOneStepOfAPath) {
  const auto read = [](const char* id) {
    return wire::to_backend_sandbox(
        {{"id", id}, {"state", "running"}, {"metadata", Json::object()}});
  };
  EXPECT_EQ(read("sb-1").backend_id, "sb-1");
  for (const char* id : {"", "a/b", "../../v1/x"}) EXPECT_THROW(read(id), Error) << id;
}

TEST(SandgateWire, ACreateIsOverOnceItRuns) {
  const auto created = [](const char* state) {
    return wire::to_created({{"id", "sb-1"}, {"state", state}, {"metadata", Json::object()}});
  };
  EXPECT_EQ(created("running").state, BackendState::running);
  for (const char* state : {"stopping", "stopped", "failed"})
    EXPECT_EQ(created(state).state, BackendState::gone) << state;
  for (const char* state : {"creating", "paused", "pausing", "resuming", "ready"})
    EXPECT_THROW(created(state), Error) << state;
}

// Otherwise it could not be written into an answer or a row.
TEST(SandgateWire, ALongDetailIsCutBetweenCharacters) {
  const Json problem{{"code", "conflict"}, {"detail", std::string(499, 'a') + "\u00e4"}};
  const HttpReply refused{409, {}, problem.dump()};
  EXPECT_EQ(wire::read_error("sandgate", refused).what(), std::string(499, 'a'));
}

}  // namespace
}  // namespace sandgate
