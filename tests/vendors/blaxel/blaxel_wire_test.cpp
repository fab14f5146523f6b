#include "providers/blaxel/blaxel_wire.hpp"

#include <gtest/gtest.h>

namespace sandgate::blaxel {
namespace {

constexpr const char* kOurs = "sbabcdefghijklmnopqrstuvwx";

Json document_of(const std::string& name, const std::string& status) {
  return {{"metadata", {{"name", name}, {"url", "https://s.example"}}},
          {"spec", {{"region", "us-pdx-1"}}},
          {"status", status}};
}

TEST(BlaxelWire, MemoryIsEnoughForProcessorsAndDisk) {
  const auto memory = [](int64_t milli_vcpu, int64_t memory_mib, int64_t disk_gib) {
    const CreateSpec spec{.resources = {milli_vcpu, memory_mib, disk_gib},
                          .network = {.fallback = NetworkDefault::allow}};
    return to_create(spec, {})["spec"]["runtime"]["memory"];
  };
  EXPECT_EQ(memory(250, 300, 1), 2048);
  EXPECT_EQ(memory(250, 3000, 1), 3072);
  EXPECT_EQ(memory(1750, 512, 1), 4096);
  EXPECT_EQ(memory(1000, 512, 3), 6144);
  EXPECT_EQ(granted({1000, 512, 2}), (Resources{2000, 4096, 2})) << "and priced";
  EXPECT_EQ(granted({250, 3000, 1}), (Resources{1500, 3072, 1}));
}

TEST(BlaxelWire, ACreateIsNamedByOurId) {
  CreateSpec spec{.sandbox_id = kOurs, .env = {{"A", "1"}}};
  // Its proxy is kept by those who want to: that is no policy.
  EXPECT_THROW(to_create(spec, {}), Error);
  spec.network.fallback = NetworkDefault::allow;
  const Json body = to_create(spec, {.image = "mine", .region = "eu-lon-1"});
  EXPECT_EQ(body["metadata"]["name"], kOurs);
  EXPECT_EQ(body["metadata"]["labels"]["sandgate_id"], kOurs);
  EXPECT_EQ(body["spec"]["region"], "eu-lon-1");
  EXPECT_EQ(body["spec"]["runtime"]["image"], "mine");
  EXPECT_EQ(body["spec"]["runtime"]["ttl"], "600s");
  EXPECT_EQ(body["spec"]["runtime"]["envs"], Json::parse(R"([{"name":"A","value":"1"}])"));
  spec.ttl = std::chrono::seconds(60);
  EXPECT_EQ(to_create(spec, {})["spec"]["runtime"]["ttl"], "300s") << "the vendor's shortest";
  spec.network.allow = {"example.com:443"};
  EXPECT_THROW(to_create(spec, {}), Error);
}

TEST(BlaxelWire, StatesAreWhatTheyMeanToUs) {
  const Box running = to_box(document_of(kOurs, "DEPLOYED"));
  EXPECT_TRUE(running.running);
  EXPECT_EQ(running.sandbox.sandbox_id, kOurs);
  EXPECT_EQ(running.sandbox.region, "us-pdx-1");
  EXPECT_EQ(running.url, "https://s.example");
  EXPECT_EQ(to_box(document_of("theirs", "DEPLOYED")).sandbox.sandbox_id, "");
  const Box starting = to_box(document_of(kOurs, "DEPLOYING"));
  EXPECT_FALSE(starting.running);
  EXPECT_EQ(starting.sandbox.state, BackendState::running);
  EXPECT_EQ(to_box(document_of(kOurs, "NEWER_WORD")).sandbox.state, BackendState::running);
  for (const char* status : {"ARCHIVING", "ARCHIVED", "UNARCHIVING"}) {
    const Box box = to_box(document_of(kOurs, status));
    EXPECT_EQ(box.sandbox.state, BackendState::paused) << status;
    EXPECT_EQ(box.sandbox.kept, Keeps::disk) << status;
    EXPECT_EQ(box.archived, std::string(status) == "ARCHIVED");
  }
  for (const char* status : {"FAILED", "TERMINATED", "DELETING", "DEACTIVATED", "DEACTIVATING"})
    EXPECT_EQ(to_box(document_of(kOurs, status)).sandbox.state, BackendState::gone) << status;
  EXPECT_THROW(to_box(Json::array()), Error);
  EXPECT_THROW(to_box({{"metadata", {{"name", 7}}}, {"status", "DEPLOYED"}}), Error);
}

TEST(BlaxelWire, AForkTakesItsNameAndEnvironmentOnly) {
  CreateSpec spec{.sandbox_id = kOurs, .env = {{"A", "1"}}};
  EXPECT_THROW(to_fork(spec), Error);
  spec.network.fallback = NetworkDefault::allow;
  EXPECT_EQ(to_fork(spec), (Json{{"targetType", "sandbox"},
                                 {"targetName", kOurs},
                                 {"envs", Json::parse(R"([{"name":"A","value":"1"}])")}}));
  EXPECT_EQ(to_create(spec, {.snapshots = true})["spec"]["runtime"]["snapshotEnabled"], true);
  EXPECT_FALSE(to_create(spec, {})["spec"]["runtime"].contains("snapshotEnabled"));
}

TEST(BlaxelWire, ASnapshotIsOnItsWayUntilItIsNot) {
  const auto read = [](const char* status) {
    return to_snapshot({{"id", "s1"}, {"name", "sn1"}, {"status", status}});
  };
  EXPECT_EQ(read("ready").snapshot.backend_id, "s1");
  EXPECT_EQ(read("ready").snapshot.kept, Keeps::memory);
  EXPECT_EQ(read("ready").name, "sn1");
  EXPECT_TRUE(read("ready").ready);
  EXPECT_TRUE(read("failed").failed);
  EXPECT_FALSE(read("pending").ready || read("pending").failed);
  EXPECT_THROW(to_snapshot(Json::array()), Error);
}

TEST(BlaxelWire, ALifeIsCountedFromTheCreation) {
  Json document = document_of(kOurs, "DEPLOYED");
  document["metadata"]["createdAt"] = "2026-11-21T10:00:00Z";
  document["spec"]["runtime"] = {{"ttl", "600s"}, {"memory", 2048}};
  const Time now = *from_rfc3339("2026-11-21T10:01:00.5Z");
  const Json longer = with_ttl(document, std::chrono::seconds(400), now);
  EXPECT_EQ(longer["spec"]["runtime"], (Json{{"ttl", "461s"}, {"memory", 2048}}));
  // The vendor refuses less than five minutes.
  EXPECT_EQ(with_ttl(document, std::chrono::seconds(100), now)["spec"]["runtime"]["ttl"], "300s");
  EXPECT_EQ(longer["metadata"], document["metadata"]);
  EXPECT_THROW(with_ttl(Json::object(), std::chrono::seconds(1), now), Error);
}

TEST(BlaxelWire, AStartIsNamedAndKeepsAwakeWhatNobodyWatches) {
  const Json watched = to_start({.argv = {"true"}}, "pr1");
  EXPECT_EQ(watched["name"], "pr1");
  EXPECT_EQ(watched["stdin"], true);
  EXPECT_FALSE(watched.contains("keepAlive"));
  EXPECT_NE(watched["command"].get<std::string>().find("/.sandgate/pr1.end"), std::string::npos);
  const Json kept = to_start({.argv = {"true"}, .keep_on_disconnect = true}, "pr1");
  EXPECT_EQ(kept["keepAlive"], true);
  EXPECT_EQ(kept["timeout"], 0);
}

TEST(BlaxelWire, OutputIsTextOrBase64) {
  const auto text = to_output(R"({"type":"stderr","data":"ä\n"})");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->channel, Channel::stderr_);
  EXPECT_EQ(text->bytes, "ä\n");
  const auto bytes = to_output(R"({"type":"stdout","data":"/wA=","encoding":"base64"})");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->channel, Channel::stdout_);
  EXPECT_EQ(bytes->bytes, std::string("\xFF\0", 2));
  EXPECT_FALSE(to_output(R"({"type":"keepalive","data":""})"));
  EXPECT_FALSE(to_output(R"({"type":"stdout","data":7})"));
}

TEST(BlaxelWire, HostileOutputIsAnError) {
  EXPECT_THROW(to_output("{x"), Error);
  EXPECT_THROW(to_output("[]"), Error);
  EXPECT_THROW(to_output(R"({"type":"stdout","data":"!","encoding":"base64"})"), Error);
  EXPECT_THROW(to_output(R"({"type":"truncated","data":""})"), Error);
  EXPECT_THROW(to_output(R"({"type":"error","data":"x"})"), Error);
}

}  // namespace
}  // namespace sandgate::blaxel
