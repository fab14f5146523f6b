#include "providers/vercel/vercel_wire.hpp"

#include <gtest/gtest.h>

#include "providers/vercel/vercel_archive.hpp"

namespace sandgate::vercel {
namespace {

Json sandbox_of(const std::string& status, const std::string& snapshot) {
  Json sandbox{{"name", "sb1"},
               {"status", status},
               {"currentSessionId", "sbx_1"},
               {"tags", {{"sandgate_id", "sb1"}}}};
  if (!snapshot.empty()) sandbox["currentSnapshotId"] = snapshot;
  return {{"sandbox", std::move(sandbox)}};
}

TEST(VercelWire, CoresBringTheirMemory) {
  const auto cores = [](int64_t milli_vcpu, int64_t memory_mib) {
    const CreateSpec spec{.resources = {milli_vcpu, memory_mib}};
    return to_create(spec, {})["resources"]["vcpus"].get<int>();
  };
  EXPECT_EQ(cores(250, 512), 1);
  EXPECT_EQ(cores(1000, 2049), 2);
  EXPECT_EQ(cores(2250, 512), 4);
  EXPECT_EQ(cores(500, 8192), 4);
  EXPECT_EQ(granted({250, 512}), (Resources{1000, 2048})) << "and priced";
  EXPECT_EQ(granted({2250, 512}), (Resources{4000, 8192}));
}

TEST(VercelWire, ACreateCarriesOurIdAndThePolicy) {
  CreateSpec spec{.sandbox_id = "sb1", .ttl = std::chrono::minutes(10)};
  const CreateRules rules{.project = "prj_1", .image = "base", .snapshot_days = 2};
  Json body = to_create(spec, rules);
  EXPECT_EQ(body["name"], "sb1");
  EXPECT_EQ(body["tags"], (Json{{"sandgate_id", "sb1"}}));
  EXPECT_EQ(body["networkPolicy"]["mode"], "deny-all");
  EXPECT_EQ(body["timeout"], 600'000);
  EXPECT_EQ(body["snapshotExpiration"], 172'800'000);
  EXPECT_EQ(body["image"], "base");
  spec.snapshot = "snap_1";
  spec.network.fallback = NetworkDefault::allow;
  body = to_create(spec, rules);
  EXPECT_EQ(body["source"], (Json{{"type", "snapshot"}, {"snapshotId", "snap_1"}}));
  EXPECT_FALSE(body.contains("image"));
  EXPECT_EQ(body["networkPolicy"]["mode"], "allow-all");
  spec.network.allow = {"example.org:443"};
  EXPECT_THROW(to_create(spec, rules), Error);
}

TEST(VercelWire, AStoppedSandboxIsWhatItsSnapshotMakesIt) {
  EXPECT_EQ(to_box(sandbox_of("stopped", "snap_1")).sandbox.state, BackendState::paused);
  EXPECT_EQ(to_box(sandbox_of("stopped", "snap_1")).sandbox.kept, Keeps::disk);
  EXPECT_EQ(to_box(sandbox_of("stopped", "")).sandbox.state, BackendState::gone);
  for (const char* status : {"failed", "aborted"})
    for (const char* snapshot : {"", "snap_1"})
      EXPECT_EQ(to_box(sandbox_of(status, snapshot)).sandbox.state, BackendState::gone) << status;
  EXPECT_EQ(to_box(sandbox_of("snapshotting", "")).sandbox.state, BackendState::running);
  EXPECT_FALSE(to_box(sandbox_of("pending", "")).running);
}

TEST(VercelWire, ASessionEndsWhenItsTimeIsOver) {
  Json document = sandbox_of("running", "");
  document["session"] = {
      {"id", "sbx_2"}, {"cwd", "/vercel/sandbox"}, {"startedAt", 1000}, {"timeout", 500}};
  const Session session = to_box(document).session;
  EXPECT_EQ(session.id, "sbx_2");
  EXPECT_EQ(session.ends_at, from_micros(1'500'000));
  EXPECT_EQ(session.cwd, "/vercel/sandbox");
  document["session"]["cwd"] = "/a\r\nx: y";
  EXPECT_EQ(to_box(document).session.cwd, "/tmp");
}

TEST(VercelWire, WhatWasRunIsListed) {
  const Command command{.argv = {"echo", "a b"},
                        .cwd = "sub",
                        .timeout = std::chrono::seconds(3),
                        .background = true,
                        .process_id = "pr1"};
  Json listed = to_run(command, /*waits=*/false);
  EXPECT_FALSE(listed.contains("wait"));
  listed.update({{"id", "cmd_1"}, {"startedAt", 5}, {"exitCode", nullptr}});
  const auto running = to_listed(listed);
  ASSERT_TRUE(running);
  EXPECT_EQ(running->command_id, "cmd_1");
  EXPECT_EQ(running->info.id, "pr1");
  EXPECT_EQ(running->info.command, command.argv);
  EXPECT_TRUE(running->info.background && running->limited);
  EXPECT_EQ(running->info.state, ProcessState::running);
  listed.update({{"exitCode", 124}, {"durationMs", 3000}});
  const auto ended = to_listed(listed);
  EXPECT_EQ(ended->info.state, ProcessState::exited);
  EXPECT_TRUE(ended->info.exit->timed_out);
  EXPECT_EQ(ended->info.ended_at, from_micros(3'005'000));
  EXPECT_FALSE(to_listed({{"id", "cmd_2"}, {"args", {"-c", "cd; ls"}}}));
  EXPECT_FALSE(to_listed(Json::array()));
}

TEST(VercelWire, HostileAnswersAreErrorsOrNothing) {
  EXPECT_THROW(to_box(Json::array()), Error);
  EXPECT_THROW(to_box({{"sandbox", {{"name", 7}}}}), Error);
  EXPECT_THROW(to_snapshot(Json()), Error);
  EXPECT_THROW(to_command({{"command", 1}}), Error);
  EXPECT_THROW(to_log_line("{x"), Error);
  EXPECT_THROW(to_log_line(R"({"stream":"error","data":{"code":"sandbox_stopped"}})"), Error);
  EXPECT_EQ(to_log_line(R"({"stream":"stderr","data":"a"})").channel, Channel::stderr_);
  EXPECT_EQ(to_log_line(R"({"command":{"id":"c","exitCode":3}})").status, 3);
  EXPECT_FALSE(to_log_line(R"({"command":{"id":"c","exitCode":null}})").status);
  EXPECT_FALSE(to_terminal_end("{x"));
  EXPECT_FALSE(to_terminal_end(R"({"type":"ready"})"));
  EXPECT_THROW(to_terminal_end(R"({"type":"exit","code":"0"})"), Error);
}

TEST(VercelWire, NumbersThatCannotBeAreNone) {
  Json document = sandbox_of("running", "");
  for (const char* number : {"1e300", "-5", "9223372036854775807", "18446744073709551615"}) {
    const Json hostile = Json::parse(number);
    document["session"] = {{"id", "sbx_2"}, {"startedAt", hostile}, {"timeout", hostile}};
    const Session session = to_box(document).session;
    EXPECT_FALSE(session.ends_at) << number;
    EXPECT_EQ(session.timeout.count(), 0) << number;
    EXPECT_EQ(to_snapshot({{"id", "s"}, {"sizeBytes", hostile}}).size_bytes, 0) << number;
  }
  EXPECT_FALSE(to_log_line(R"({"command":{"id":"c","exitCode":1e300}})").status);
}

TEST(VercelWire, AnErrorMeansWhatTheVendorSays) {
  const auto code_of = [](int status, const std::string& code) {
    const Json body{{"error", {{"code", code}, {"message", "m"}}}};
    return read_error("vercel", {.status = status, .body = body.dump()}).code;
  };
  EXPECT_EQ(code_of(422, "sandbox_stopping"), ErrorCode::conflict);
  EXPECT_EQ(code_of(422, "other"), ErrorCode::invalid);
  EXPECT_EQ(code_of(410, "sandbox_stopped"), ErrorCode::not_found);
  EXPECT_EQ(code_of(402, "payment_required"), ErrorCode::no_capacity);
}

TEST(VercelWire, AnArchiveIsCutIntoStoredBlocks) {
  const std::string archive = to_archive("file", std::string(100'000, 'x'));
  // A header, two blocks with five bytes before each, eight bytes of sums; 100'000 padded to 512.
  EXPECT_EQ(archive.size(), 10u + 2 * 5 + 512 + 100'352 + 1024 + 8);
  EXPECT_EQ(archive[10], 0);
  EXPECT_EQ(archive[10 + 5 + 65'535], 1);
}

}  // namespace
}  // namespace sandgate::vercel
