#include "registry/profile_parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "registry/yaml.hpp"

namespace sandgate {
namespace {

constexpr char kExample[] = R"(
name: python
description: Short Python jobs
isolation: container
persistence: ephemeral
image: debian-12
images: {acme: base}
resources: {vcpu: 1, memory_mib: 512, disk_gib: 2, processes: 512}
limits: {max_vcpu: 4, max_memory_mib: 4096, max_ttl_seconds: 3600}
ttl_seconds: 600
on_expiry: kill
idle_timeout_seconds: 300
on_idle: pause
auto_resume: false
env: {LANG: C.UTF-8}
workspace: isolated
scope: session
allow_root: false
allow_debug: false
network: {default: deny, allow: ["api.example.com:443", "*.example.org:443"]}
secrets: [{name: OPENAI_API_KEY, host: api.openai.com, header: Authorization}]
requires: [files, pty, ports]
placement:
  strategy: cheapest
  order: [local, main]
  only: []
  regions: []
  max_cost_per_hour: "0.20"
  fallback: {attempts: 5, deadline_ms: 20000, hedge_after_ms: 0}
)";

std::vector<std::string> paths_of(const std::string& yaml) {
  std::vector<std::string> paths;
  try {
    parse_profile_yaml(yaml);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    for (const auto& field : error.fields) paths.push_back(field.path);
  }
  return paths;
}

TEST(ParseProfile, ReadsTheWholeDocument) {
  const Profile profile = parse_profile_yaml(kExample);
  EXPECT_EQ(profile.name, "python");
  EXPECT_EQ(profile.images.at("acme"), "base");
  EXPECT_EQ(profile.limits.max_milli_vcpu, 4000);
  EXPECT_FALSE(profile.limits.max_disk_gib);
  EXPECT_EQ(profile.on_idle, EndAction::pause);
  EXPECT_EQ(profile.env.at("LANG"), "C.UTF-8");
  EXPECT_EQ(profile.network.allow.size(), 2u);
  EXPECT_EQ(profile.secrets.at(0).host, "api.openai.com");
  EXPECT_EQ(profile.requires_verbs, (std::set{Verb::files, Verb::pty, Verb::ports}));
  EXPECT_EQ(profile.placement.order, (std::vector<std::string>{"local", "main"}));
  EXPECT_EQ(profile.placement.max_cost_per_hour, "0.20");
  EXPECT_EQ(max_resources(profile).memory_mib, 4096);
  EXPECT_EQ(max_resources(profile).disk_gib, 2);
  EXPECT_EQ(max_ttl(profile), std::chrono::seconds(3600));
}

TEST(ParseProfile, NeedsOnlyAName) {
  const Profile profile = parse_profile_json(R"({"name":"a"})");
  EXPECT_EQ(profile.image, "debian-12");
  EXPECT_EQ(profile.resources, Resources{});
  EXPECT_EQ(profile.isolation, Isolation::container);
  EXPECT_EQ(profile.ttl_seconds, 600);
  EXPECT_EQ(profile.network.fallback, NetworkDefault::deny);
  EXPECT_EQ(parse_profile_json("{}", "from-address").name, "from-address");
  EXPECT_EQ(paths_of("{}"), std::vector<std::string>{"/name"});
  EXPECT_THROW(parse_profile_json(R"({"name":"a"})", "b"), Error);
}

TEST(ParseProfile, WithoutWeightsThoseOfTheDeploymentsCount) {
  for (const char* yaml : {"{name: a, placement: {strategy: weighted}}",
                           "{name: a, placement: {strategy: weighted, weights: {}}}"})
    EXPECT_TRUE(parse_profile_yaml(yaml).placement.weights.empty()) << yaml;
}

TEST(ParseProfile, AWeightThatIsNullIsNone) {
  const Profile weighted =
      parse_profile_yaml("{name: a, placement: {strategy: weighted, weights: {a: 80, b: null}}}");
  EXPECT_EQ(weighted.placement.weights, (std::map<std::string, int64_t>{{"a", 80}}));
  EXPECT_EQ(paths_of("{name: a, placement: {weights: {a: null}}}"), std::vector<std::string>());
}

TEST(ParseProfile, RendersWhatItReads) {
  for (const std::string& text :
       {std::string(kExample), std::string("name: a"),
        std::string("name: b\nresources: {vcpu: 0.25}\nworkspace: read_only\nworkspace_path: /srv/x"
                    "\nplacement: {strategy: weighted, weights: {a: 80, b: 20}}")}) {
    const Profile profile = parse_profile_yaml(text);
    const Profile again = parse_profile(to_json(profile));
    EXPECT_EQ(to_json(again), to_json(profile));
    EXPECT_EQ(content_hash(again), content_hash(profile));
  }
  EXPECT_EQ(content_hash(parse_profile_yaml("{name: a, ttl_seconds: 600}")),
            content_hash(parse_profile_yaml("{name: a}")));
  EXPECT_NE(content_hash(parse_profile_yaml("{name: a, ttl_seconds: 601}")),
            content_hash(parse_profile_yaml("{name: a}")));
}

// A document, and the path of the one thing wrong with it.
constexpr std::pair<const char*, const char*> kWrong[] = {
    {"{name: A}", "/name"},
    {"{name: ''}", "/name"},
    {"{name: -a}", "/name"},
    {"{name: a, nmae: b}", "/nmae"},
    {"{name: a, isolation: vm}", "/isolation"},
    {"{name: a, image: ''}", "/image"},
    {"{name: a, image: 'a b'}", "/image"},
    {"{name: a, images: {x: 'a b'}}", "/images/x"},
    {"{name: a, resources: {vcpu: 0.3}}", "/resources/vcpu"},
    {"{name: a, resources: {vcpu: 0}}", "/resources/vcpu"},
    {"{name: a, resources: {memory_mib: 1.5}}", "/resources/memory_mib"},
    {"{name: a, resources: {gpus: 1}}", "/resources/gpus"},
    {"{name: a, resources: {vcpu: 2}, limits: {max_vcpu: 1}}", "/resources/vcpu"},
    {"{name: a, ttl_seconds: 100, limits: {max_ttl_seconds: 99}}", "/ttl_seconds"},
    {"{name: a, ttl_seconds: 0}", "/ttl_seconds"},
    {"{name: a, on_idle: sleep}", "/on_idle"},
    {"{name: a, env: {1A: x}}", "/env/1A"},
    {"{name: a, env: {PORT: 80}}", "/env/PORT"},
    {"{name: a, workspace: read_only}", "/workspace_path"},
    {"{name: a, workspace: read_only, workspace_path: srv}", "/workspace_path"},
    {"{name: a, workspace: read_only, workspace_path: /srv/../etc}", "/workspace_path"},
    {"{name: a, workspace: read_only, workspace_path: /}", "/workspace_path"},
    {"{name: a, workspace_path: /srv}", "/workspace_path"},
    {"{name: a, allow_root: 1}", "/allow_root"},
    {"{name: a, network: {default: open}}", "/network/default"},
    {"{name: a, network: {allow: [a.example]}}", "/network/allow/0"},
    {"{name: a, network: {default: allow, allow: ['a.example:1']}}", "/network/allow"},
    {"{name: a, secrets: [{name: '', host: x.org, header: H}]}", "/secrets/0/name"},
    {"{name: a, secrets: [{name: K, host: '*.x.org', header: H}]}", "/secrets/0/host"},
    {"{name: a, secrets: [{name: K, host: x.org, header: Host}]}", "/secrets/0/header"},
    {"{name: a, secrets: [{name: K, host: x.org, header: User-Agent}]}", "/secrets/0/header"},
    {"{name: a, secrets: [{name: K, host: x.org, header: X-Forwarded-For}]}", "/secrets/0/header"},
    {"{name: a, secrets: [{name: K, host: x.org, header: CF-Connecting-IP}]}", "/secrets/0/header"},
    {"{name: a, secrets: [{name: K, host: x.org, header: ''}]}", "/secrets/0/header"},
    {"{name: a, secrets: [{name: K, host: x.org}]}", "/secrets/0/header"},
    {"{name: a, env: {K: v}, secrets: [{name: K, host: x.org, header: H}]}", "/secrets/0/name"},
    {"{name: a, requires: [files, fly]}", "/requires/1"},
    {"{name: a, placement: {strategy: priority}}", "/placement/order"},
    {"{name: a, placement: {weights: {a: 1}}}", "/placement/weights"},
    {"{name: a, placement: {strategy: weighted, weights: {a: 0}}}", "/placement/weights"},
    {"{name: a, placement: {only: [x, x]}}", "/placement/only/1"},
    {"{name: a, placement: {max_cost_per_hour: 0.20}}", "/placement/max_cost_per_hour"},
    {"{name: a, placement: {max_cost_per_hour: '0'}}", "/placement/max_cost_per_hour"},
    {"{name: a, placement: {max_cost_per_hour: '0.000'}}", "/placement/max_cost_per_hour"},
    {"{name: a, placement: {max_cost_per_hour: '1e3'}}", "/placement/max_cost_per_hour"},
    {"{name: a, placement: {fallback: {attempts: 0}}}", "/placement/fallback/attempts"},
};

TEST(ParseProfile, NamesWhatIsWrong) {
  for (const auto& [yaml, path] : kWrong)
    EXPECT_THAT(paths_of(yaml), testing::ElementsAre(path)) << yaml;
}

TEST(ParseProfile, GathersEverything) {
  EXPECT_THAT(paths_of("{name: B, ttl_seconds: x, colour: red, network: {allow: [1, 'a:b']}}"),
              testing::UnorderedElementsAre("/name", "/ttl_seconds", "/colour", "/network/allow/0",
                                            "/network/allow/1"));
  EXPECT_EQ(paths_of("[1]"), std::vector<std::string>{""});
}

TEST(ParseProfile, AHostHasFewSecrets) {
  const auto with = [](size_t many) {
    std::string yaml = "{name: a, secrets: [{name: OTHER, host: y.org, header: H}";
    for (size_t i = 0; i < many; ++i)
      yaml += ", {name: K" + std::to_string(i) + ", host: x.org, header: H}";
    return yaml + "]}";
  };
  EXPECT_EQ(paths_of(with(8)), std::vector<std::string>());
  EXPECT_EQ(paths_of(with(9)), std::vector<std::string>{"/secrets/9/host"});
  EXPECT_EQ(parse_profile(yaml_to_json(with(9))).secrets.size(), 10u)
      << "stored by an older release";
}

TEST(ParseProfile, RefusesWhatIsTooLarge) {
  try {
    parse_profile_yaml("name: a\ndescription: " + std::string(kMaxProfileBytes, 'x'));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::too_large);
  }
}

}  // namespace
}  // namespace sandgate
