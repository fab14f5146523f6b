#include "registry/effective_request.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "registry/profile_parse.hpp"

namespace sandgate {
namespace {

Profile python() {
  return parse_profile_yaml(R"(
name: python
isolation: container
persistence: persistent
resources: {vcpu: 1, memory_mib: 512}
limits: {max_vcpu: 4, max_memory_mib: 4096, max_ttl_seconds: 3600}
env: {LANG: C.UTF-8}
network: {allow: ["api.example.com:443", "*.example.org:443"]}
secrets:
  - {name: KEY_A, host: a.example.com, header: Authorization}
  - {name: KEY_B, host: b.example.com, header: Authorization}
placement: {only: [local, main], order: [main, local], regions: [eu, us], exclude: [old],
            max_cost_per_hour: "0.20"}
)");
}

std::vector<std::string> paths_refused_by(const std::function<void()>& reading) {
  std::vector<std::string> paths;
  try {
    reading();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    for (const auto& field : error.fields) paths.push_back(field.path);
  }
  return paths;
}

std::vector<std::string> refused_paths(const char* body, const Profile& profile = python()) {
  return paths_refused_by([&] { merge(profile, parse_json(body)); });
}

TEST(Merge, AnEmptyBodyIsTheProfile) {
  const auto request = merge(python(), parse_json(R"({"profile":"python"})"));
  EXPECT_EQ(to_json(request.profile), to_json(python()));
  EXPECT_TRUE(request.metadata.empty());
  EXPECT_FALSE(request.snapshot);
}

// The first time to live is no limit of those that are asked for later.
TEST(Merge, AShorterTimeToLiveMayBeExtendedAsFarAsTheProfiles) {
  for (const auto limit : {std::optional<int64_t>(), std::optional<int64_t>(900)}) {
    Profile profile = python();
    profile.ttl_seconds = 300;
    profile.limits.max_ttl_seconds = limit;
    const Profile merged = merge(profile, parse_json(R"({"ttl_seconds":200})")).profile;
    EXPECT_EQ(merged.ttl_seconds, 200);
    EXPECT_EQ(max_ttl(merged).count(), limit.value_or(300));
  }
}

TEST(Merge, AppliesWhatTightens) {
  const auto [profile, metadata, snapshot, held_by] = merge(python(), parse_json(R"({
    "image":"debian-12", "env":{"A":"1","LANG":"de"}, "metadata":{"run":"42"}, "ttl_seconds":3600,
    "idle_timeout_seconds":120, "resources":{"vcpu":4,"memory_mib":4096},
    "snapshot":"snabcdefghijklmnopqrstuvwx",
    "network":{"default":"deny","allow":["API.example.com:443","a.example.org:443"]},
    "secrets":["KEY_B"], "isolation":"microvm", "persistence":"ephemeral",
    "placement":{"only":["local"],"order":[],"exclude":["main"],"region":"eu",
                 "max_cost_per_hour":"0.1"}})"));
  EXPECT_EQ(profile.env.at("A"), "1");
  EXPECT_EQ(profile.env.at("LANG"), "de");
  EXPECT_EQ(metadata.at("run"), "42");
  EXPECT_EQ(profile.ttl_seconds, 3600);
  EXPECT_EQ(profile.idle_timeout_seconds, 120);
  EXPECT_EQ(profile.resources.milli_vcpu, 4000);
  EXPECT_EQ(profile.resources.disk_gib, 2);
  EXPECT_EQ(snapshot->value, "snabcdefghijklmnopqrstuvwx");
  EXPECT_EQ(held_by, "");
  EXPECT_EQ(profile.network.allow,
            (std::vector<std::string>{"api.example.com:443", "a.example.org:443"}));
  ASSERT_EQ(profile.secrets.size(), 1u);
  EXPECT_EQ(profile.secrets[0].name, "KEY_B");
  EXPECT_EQ(profile.isolation, Isolation::microvm);
  EXPECT_EQ(profile.persistence, Persistence::ephemeral);
  EXPECT_EQ(profile.placement.only, std::vector<std::string>{"local"});
  EXPECT_EQ(profile.placement.order, (std::vector<std::string>{"main", "local"}));
  EXPECT_EQ(profile.placement.exclude, (std::vector<std::string>{"old", "main"}));
  EXPECT_EQ(profile.placement.regions, std::vector<std::string>{"eu"});
  EXPECT_EQ(profile.placement.max_cost_per_hour, "0.1");
}

TEST(Merge, RefusesWhatLoosens) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"resources":{"vcpu":4.25}})", "/resources/vcpu"},
      {R"({"resources":{"memory_mib":4097}})", "/resources/memory_mib"},
      {R"({"resources":{"disk_gib":3}})", "/resources/disk_gib"},
      {R"({"resources":{"processes":513}})", "/resources/processes"},
      {R"({"ttl_seconds":3601})", "/ttl_seconds"},
      {R"({"ttl_seconds":0})", "/ttl_seconds"},
      {R"({"idle_timeout_seconds":301})", "/idle_timeout_seconds"},
      {R"({"idle_timeout_seconds":0})", "/idle_timeout_seconds"},
      {R"({"isolation":"process"})", "/isolation"},
      {R"({"persistence":"checkpoint"})", "/persistence"},
      {R"({"image":"ubuntu"})", "/image"},
      {R"({"network":{"default":"allow"}})", "/network/default"},
      {R"({"network":{"allow":["evil.example:443"]}})", "/network/allow/0"},
      {R"({"network":{"allow":["api.example.com:443","example.org:443"]}})", "/network/allow/1"},
      {R"({"secrets":["OTHER"]})", "/secrets/0"},
      {R"({"env":{"KEY_A":"x"}})", "/env/KEY_A"},
      {R"({"placement":{"only":["remote"]}})", "/placement/only/0"},
      {R"({"placement":{"only":["local","remote"]}})", "/placement/only/1"},
      {R"({"placement":{"order":["local","remote"]}})", "/placement/order/1"},
      {R"({"placement":{"region":"asia"}})", "/placement/region"},
      {R"({"placement":{"max_cost_per_hour":"0.21"}})", "/placement/max_cost_per_hour"},
      {R"({"placement":{"max_cost_per_hour":"0.200000000000000001"}})",
       "/placement/max_cost_per_hour"},
      {R"({"placement":{"max_cost_per_hour":"10"}})", "/placement/max_cost_per_hour"},
      {R"({"placement":{"strategy":"fastest"}})", "/placement/strategy"},
      {R"({"allow_root":true})", "/allow_root"},
      {R"({"requires":[]})", "/requires"},
      {R"({"snapshot":"x"})", "/snapshot"},
      {R"({"metadata":{"a":1}})", "/metadata/a"},
      {R"({"metadata":{"":"x"}})", "/metadata/"},
  };
  for (const auto& [body, path] : cases)
    EXPECT_THAT(refused_paths(body), testing::ElementsAre(path)) << body;
  EXPECT_THAT(refused_paths(R"({"ttl_seconds":9999,"colour":1})"),
              testing::ElementsAre("/ttl_seconds", "/colour"));
  EXPECT_EQ(refused_paths("[]"), std::vector<std::string>{""});
}

TEST(Merge, AnOrderComesBeforeTheStrategy) {
  const Profile cheapest = parse_profile_yaml("{name: a}");
  const auto placement = [&](const char* body) {
    return merge(cheapest, parse_json(body)).profile.placement;
  };
  EXPECT_EQ(placement("{}").strategy, Strategy::cheapest);
  EXPECT_EQ(placement(R"({"placement":{"order":[]}})").strategy, Strategy::cheapest);
  const PlacementPolicy ordered = placement(R"({"placement":{"order":["b","a"]}})");
  EXPECT_EQ(ordered.strategy, Strategy::priority);
  EXPECT_EQ(ordered.order, (std::vector<std::string>{"b", "a"}));
}

TEST(Merge, KeepsDenyUnlessTheProfileIsOpen) {
  const Profile open = parse_profile_yaml("{name: a, network: {default: allow}}");
  const auto network = [&](const char* body) {
    return merge(open, parse_json(body)).profile.network;
  };
  EXPECT_EQ(network("{}").fallback, NetworkDefault::allow);
  EXPECT_EQ(network(R"({"network":{}})").fallback, NetworkDefault::allow);
  EXPECT_EQ(network(R"({"network":{"default":"deny"}})").fallback, NetworkDefault::deny);
  const auto ruled = network(R"({"network":{"allow":["x.example:1"]}})");
  EXPECT_EQ(ruled.fallback, NetworkDefault::deny);
  EXPECT_EQ(ruled.allow, std::vector<std::string>{"x.example:1"});
  EXPECT_EQ(
      merge(python(), parse_json(R"({"network":{"default":"deny"}})")).profile.network.allow.size(),
      2u);
  EXPECT_TRUE(
      merge(python(), parse_json(R"({"network":{"allow":[]}})")).profile.network.allow.empty());
}

TEST(Merge, BoundsWhatIsFree) {
  Json body{{"metadata", Json::object()}};
  for (int i = 0; i < 65; ++i) body["metadata"]["k" + std::to_string(i)] = "v";
  EXPECT_THROW(merge(python(), body), Error);
  EXPECT_THROW(merge(python(), Json{{"metadata", {{std::string(65, 'k'), "v"}}}}), Error);
  EXPECT_THROW(merge(python(), Json{{"metadata", {{"k", std::string(513, 'v')}}}}), Error);
  EXPECT_THROW(merge(python(), Json{{"env", {{"K", std::string(32 * 1024 + 1, 'v')}}}}), Error);
}

TEST(ProfileReference, IsRequiredInABody) {
  EXPECT_EQ(profile_reference(parse_json(R"({"profile":"a@3"})")), "a@3");
  EXPECT_THROW(profile_reference(parse_json("{}")), Error);
  EXPECT_THROW(profile_reference(parse_json(R"({"profile":7})")), Error);
  EXPECT_THROW(profile_reference(parse_json("[]")), Error);
}

TEST(ProfileReference, MayBeMisspelt) {
  const auto refused = [](const char* body) {
    return paths_refused_by([&] { profile_reference(parse_json(body)); });
  };
  EXPECT_THAT(refused(R"({"profil":"a"})"), testing::UnorderedElementsAre("/profile", "/profil"));
  EXPECT_THAT(refused(R"({"resources":{},"ttl_seconds":9,"idle_timeout_seconds":9,"isolation":"vm",
                          "persistence":"disk","image":"a","network":{},"secrets":[],"env":{},
                          "placement":{},"metadata":{},"snapshot":"a"})"),
              testing::ElementsAre("/profile"))
      << "the names of other fields are right";
}

}  // namespace
}  // namespace sandgate
