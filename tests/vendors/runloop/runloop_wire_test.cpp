#include "providers/runloop/runloop_wire.hpp"

#include <gtest/gtest.h>

namespace sandgate::runloop {
namespace {

Json launch_of(int64_t milli_vcpu, int64_t memory_mib, int64_t disk_gib) {
  CreateSpec spec{.resources = {milli_vcpu, memory_mib, disk_gib},
                  .network = {.fallback = NetworkDefault::allow}};
  return to_create(spec, {})["launch_parameters"];
}

TEST(RunloopWire, SizesAreRoundedUpToWhatThereIs) {
  const auto size = [](int64_t milli_vcpu, int64_t memory_mib, int64_t disk_gib) {
    const Json launch = launch_of(milli_vcpu, memory_mib, disk_gib);
    return Json{launch["custom_cpu_cores"], launch["custom_gb_memory"], launch["custom_disk_size"]};
  };
  EXPECT_EQ(size(250, 512, 1), (Json{0.5, 1, 2}));
  EXPECT_EQ(size(1000, 512, 3), (Json{1, 2, 4}));
  EXPECT_EQ(size(1250, 4096, 8), (Json{2, 4, 8}));
  EXPECT_EQ(size(3000, 4097, 8), (Json{4, 8, 8}));
  EXPECT_EQ(granted({250, 512, 1}), (Resources{500, 1024, 2})) << "and priced";
  EXPECT_EQ(granted({1250, 4097, 1}), (Resources{2000, 6144, 2}));
}

// The vendor refuses more than eight times the cores.
TEST(RunloopWire, MuchMemoryBringsItsCores) {
  EXPECT_EQ(granted({250, 4096, 2}), (Resources{500, 4096, 2}));
  EXPECT_EQ(granted({250, 4097, 2}), (Resources{1000, 6144, 2}));
  EXPECT_EQ(granted({1000, 8192, 2}), (Resources{1000, 8192, 2}));
  EXPECT_EQ(granted({1000, 8193, 2}), (Resources{2000, 10'240, 2}));
  EXPECT_EQ(granted({1000, 65'536, 2}), (Resources{8000, 65'536, 2}));
}

TEST(RunloopWire, ACreateCarriesOurIdAndThePolicy) {
  CreateSpec spec{.sandbox_id = "sb1", .image = "tools", .ttl = std::chrono::hours(30)};
  // Nothing lets out nothing unless a policy for it is set up.
  EXPECT_THROW(to_create(spec, {}), Error);
  const Json body = to_create(spec, {.deny_policy = "npol_1"});
  EXPECT_EQ(body["name"], "sb1");
  EXPECT_EQ(body["metadata"]["sandgate_id"], "sb1");
  EXPECT_EQ(body["blueprint_name"], "tools");
  EXPECT_EQ(body["launch_parameters"]["network_policy_id"], "npol_1");
  EXPECT_EQ(body["launch_parameters"]["keep_alive_time_seconds"], 108'000);
}

TEST(RunloopWire, HostileAnswersAreErrorsOrNothing) {
  EXPECT_THROW(to_box(Json::array()), Error);
  EXPECT_THROW(to_box({{"id", 7}}), Error);
  EXPECT_EQ(to_box({{"id", "1"}, {"status", "shutdown"}}).sandbox.state, BackendState::gone);
  EXPECT_FALSE(to_output({.data = "{x"}));
  EXPECT_FALSE(to_output({.data = R"({"output":7})"}));
  EXPECT_EQ(to_output({.data = R"({"output":"a","offset":0})"}), "a");
  EXPECT_FALSE(to_status({{"status", "running"}}));
  EXPECT_EQ(to_status({{"status", "completed"}, {"exit_status", 3}}), 3);
  EXPECT_THROW(to_status(Json::array()), Error);
}

TEST(RunloopWire, ASandboxTellsSinceWhenItIsThere) {
  const auto since = [](const char* millis) {
    const Json document{
        {"id", "d"}, {"status", "running"}, {"create_time_ms", Json::parse(millis)}};
    return to_box(document).sandbox.created_at;
  };
  EXPECT_EQ(since("1000"), from_micros(1'000'000));
  for (const char* hostile : {"-5", "1e300", "9223372036854775807", "\"soon\"", "null"})
    EXPECT_FALSE(since(hostile)) << hostile;
}

}  // namespace
}  // namespace sandgate::runloop
