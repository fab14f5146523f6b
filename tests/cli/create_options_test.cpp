#include "gateway/cli/create_options.hpp"

#include <gtest/gtest.h>

#include "gateway/cli/pairs.hpp"

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
  options.only = {"local"};
  options.max_cost_per_hour = "0.20";

  EXPECT_EQ(options.body(), Json::parse(R"({"profile":"p@2","env":{"A":"1=2"},
    "metadata":{"run":"42"},"ttl_seconds":60,"resources":{"vcpu":0.5,"memory_mib":256},
    "network":{"default":"deny","allow":["example.com:443"]},
    "placement":{"only":["local"],"max_cost_per_hour":"0.20"}})"));
}

TEST(CreateOptions, APairNeedsASign) {
  EXPECT_THROW(pairs({"novalue"}, "--env"), CLI::ValidationError);
  EXPECT_THROW(pairs({"=x"}, "--env"), CLI::ValidationError);
}

}  // namespace
}  // namespace sandgate::cli
