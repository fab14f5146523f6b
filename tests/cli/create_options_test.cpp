#include "gateway/cli/options/create_options.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "gateway/cli/options/pairs.hpp"

namespace sandgate::cli {
namespace {

TEST(CreateOptions, HoldsOnlyWhatWasGiven) {
  EXPECT_EQ(CreateOptions{}.body(), (Json{{"profile", "python"}}));
}

TEST(CreateOptions, SpellsEverythingOut) {
  CreateOptions options{.profile = "p@2", .env = {"A=1=2"}, .metadata = {"run=42"}};
  options.ttl_seconds = 60;
  options.vcpu = 0.5;
  options.memory_mib = 256;
  options.allow = {"example.com:443"};
  options.secrets = {"KEY"};
  options.persistence = "ephemeral";
  options.only = {"local"};
  options.order = {"local", "e2b"};
  options.max_cost_per_hour = "0.20";

  EXPECT_EQ(options.body(), Json::parse(R"({"profile":"p@2","env":{"A":"1=2"},
    "metadata":{"run":"42"},"ttl_seconds":60,"resources":{"vcpu":0.5,"memory_mib":256},
    "network":{"default":"deny","allow":["example.com:443"]},
    "secrets":["KEY"],"persistence":"ephemeral",
    "placement":{"only":["local"],"order":["local","e2b"],"max_cost_per_hour":"0.20"}})"));
}

TEST(CreateOptions, OfTheSecretsSomeOrNone) {
  const auto body_of = [](std::vector<std::string> arguments) {
    CLI::App app;
    CreateOptions options;
    add_create_options(app, options);
    std::ranges::reverse(arguments);
    app.parse(arguments);
    return options.body();
  };
  EXPECT_EQ(body_of({"--secret", "A", "--secret", "B"})["secrets"], (Json{"A", "B"}));
  EXPECT_EQ(body_of({"--no-secrets"})["secrets"], Json::array());
  EXPECT_FALSE(body_of({}).contains("secrets"));
  EXPECT_THROW(body_of({"--secret", "A", "--no-secrets"}), CLI::ParseError);
}

TEST(CreateOptions, APairNeedsASign) {
  EXPECT_THROW(pairs({"novalue"}, "--env"), CLI::ValidationError);
  EXPECT_THROW(pairs({"=x"}, "--env"), CLI::ValidationError);
}

}  // namespace
}  // namespace sandgate::cli
