#include "providers/opensandbox/opensandbox_wire.hpp"

#include <gtest/gtest.h>

#include "providers/catalog.hpp"

namespace sandgate::opensandbox {
namespace {

TEST(OpenSandboxWire, ACreateCarriesOurIdAndOnlyThat) {
  CreateSpec spec{.sandbox_id = "sb1",
                  .image = "tools",
                  .resources = {.milli_vcpu = 250, .memory_mib = 300},
                  .ttl = std::chrono::seconds(5),
                  .env = {{"A", "b"}},
                  .metadata = {{"any thing", "at all"}},
                  .network = {.fallback = NetworkDefault::allow}};
  const Json body = to_create(spec, {});
  EXPECT_EQ(body["metadata"], (Json{{"sandgate_id", "sb1"}}));
  EXPECT_EQ(body["image"], (Json{{"uri", "tools"}}));
  EXPECT_EQ(body["timeout"], 60);
  EXPECT_EQ(body["resourceLimits"], (Json{{"cpu", "250m"}, {"memory", "300Mi"}}));
  EXPECT_FALSE(body.contains("networkPolicy"));
  EXPECT_FALSE(body.contains("secureAccess"));
  spec.snapshot = "s";
  const Json restored = to_create(spec, {.secure_access = true});
  EXPECT_EQ(restored["snapshotId"], "s");
  EXPECT_FALSE(restored.contains("image"));
  EXPECT_EQ(restored["secureAccess"], true);
}

TEST(OpenSandboxWire, WhatNobodyEnforcesIsRefused) {
  CreateSpec spec{.sandbox_id = "sb1"};
  EXPECT_THROW(to_create(spec, {}), Error);
  const Json denied = to_create(spec, {.egress_enforced = true});
  EXPECT_EQ(denied["networkPolicy"], (Json{{"defaultAction", "deny"}, {"egress", Json::array()}}));
  spec.network.allow = {"example.com:443"};
  EXPECT_THROW(to_create(spec, {.egress_enforced = true}), Error);
}

TEST(OpenSandboxWire, StatesOfSandboxesAndSnapshots) {
  const auto box = [](const char* state) {
    return to_box({{"id", "b"}, {"status", {{"state", state}}}}, {.paused = Keeps::disk});
  };
  EXPECT_TRUE(box("Running").running);
  EXPECT_FALSE(box("Pending").running);
  EXPECT_EQ(box("Pending").sandbox.state, BackendState::running);
  EXPECT_EQ(box("Paused").sandbox.state, BackendState::paused);
  EXPECT_EQ(box("Paused").sandbox.kept, Keeps::disk);
  EXPECT_EQ(box("Terminated").sandbox.state, BackendState::gone);
  EXPECT_EQ(box("Failed").sandbox.state, BackendState::gone);
  EXPECT_TRUE(box("Paused").paused);
  EXPECT_FALSE(box("Pausing").paused);
  const auto snapshot = [](const char* state) {
    return to_snapshot({{"id", "s"}, {"name", "sn1"}, {"status", {{"state", state}}}});
  };
  EXPECT_TRUE(snapshot("Ready").ready);
  EXPECT_FALSE(snapshot("Creating").ready);
  EXPECT_TRUE(snapshot("Failed").failed);
  EXPECT_EQ(snapshot("Ready").name, "sn1");
}

TEST(OpenSandboxWire, EventsComeWithAndWithoutTheWordsOfAStream) {
  const auto output = to_event(R"({"type":"stdout","text":"a"})");
  EXPECT_EQ(output.kind, CommandEvent::output);
  EXPECT_EQ(output.text, "a");
  EXPECT_EQ(to_event(R"(data: {"type":"stdout","text":"a"})").text, "a");
  EXPECT_EQ(to_event(R"({"type":"ping","text":"pong"})").kind, CommandEvent::other);
  EXPECT_EQ(to_event("").kind, CommandEvent::other);
  EXPECT_EQ(to_event(R"({"type":"execution_complete"})").kind, CommandEvent::ended);
  const auto failed =
      to_event(R"({"type":"error","error":{"ename":"CommandExecError","evalue":"7"}})");
  EXPECT_EQ(failed.kind, CommandEvent::ended);
  EXPECT_EQ(failed.status, 7);
  EXPECT_THROW(to_event(R"({"type":"error","error":{"evalue":"no such directory"}})"), Error);
  EXPECT_THROW(to_event(R"({"type":"error","error":7})"), Error);
}

TEST(OpenSandboxWire, HostileAnswersAreErrors) {
  EXPECT_THROW(to_box(Json::array(), {}), Error);
  EXPECT_THROW(to_box({{"id", "b"}, {"status", "Running"}}, {}), Error);
  EXPECT_THROW(to_endpoint(Json::object()), Error);
  EXPECT_THROW(to_endpoint({{"endpoint", ""}}), Error);
  EXPECT_THROW(to_endpoint({{"endpoint", "h\r\nx"}}), Error);
  EXPECT_THROW(to_endpoint({{"endpoint", "h"}, {"headers", {{"a", "b\r\nc: d"}}}}), Error);
  EXPECT_THROW(to_endpoint({{"endpoint", "h"}, {"headers", {{"a", 7}}}}), Error);
  const Endpoint endpoint = to_endpoint({{"endpoint", "h:1/p/"}, {"headers", {{"X-Route", "r"}}}});
  EXPECT_EQ(endpoint.place, "h:1/p");
  EXPECT_EQ(endpoint.headers, (HttpFields{{"X-Route", "r"}}));
  EXPECT_FALSE(has_next_page({{"pagination", 7}}));
  EXPECT_THROW(to_snapshot({{"id", 7}}), Error);
}

TEST(OpenSandboxWire, SettingsAreReadStrictly) {
  const auto wrong = [](Json settings, Json credentials) {
    Problems problems;
    find_provider_kind("opensandbox")->validate(settings, credentials, problems);
    std::vector<std::string> paths;
    for (const auto& field : problems.fields()) paths.push_back(field.path);
    return paths;
  };
  using Paths = std::vector<std::string>;
  const Json key{{"api_key", "k"}};
  EXPECT_EQ(wrong({{"api_url", "http://h/v1"}}, key), Paths{});
  EXPECT_EQ(wrong(Json::object(), key), Paths{"/settings/api_url"});
  EXPECT_EQ(wrong({{"api_url", "http://h/v1"}}, Json::object()), Paths{"/credentials/api_key"});
  EXPECT_EQ(wrong({{"api_url", "http://h/v1"}, {"pause_keeps", "all"}}, key),
            Paths{"/settings/pause_keeps"});
}

}  // namespace
}  // namespace sandgate::opensandbox
