#include <gtest/gtest.h>

#include "tests/sandboxes/paying_replica.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::PayingReplica;
using test::run;
using test::small_order;

// Ten minutes of a vCPU: 0.6 on "b", and on "a" 0.3 in one region and 1.8 in the other.
constexpr const char* kPricesByRegion = R"({"kind":"cost","currency":"USD",
  "effective_from":"2026-01-01T00:00:00Z",
  "entries":[{"provider":"b","meter":"vcpu_second","unit_price":"0.001"},
    {"provider":"a","region":"us","meter":"vcpu_second","unit_price":"0.0005"},
    {"provider":"a","region":"eu","meter":"vcpu_second","unit_price":"0.003"}]})";

struct RegionBudgets : testing::Test {
  RegionBudgets() {
    Descriptor wide = world.a->descriptor();
    wide.regions = {"us", "eu"};
    world.a->offer(std::move(wide));
    replica.deployments.refresh();
  }
  CreateOrder order(std::vector<std::string> regions, std::vector<std::string> only) const {
    CreateOrder order = small_order(world);
    order.request.profile.placement.regions = std::move(regions);
    order.request.profile.placement.only = std::move(only);
    return order;
  }
  Task<SandboxRecord> create(std::vector<std::string> regions, std::vector<std::string> only = {}) {
    return replica.lifecycle.create(order(std::move(regions), std::move(only)));
  }
  void set_budget(const std::string& amount) {
    replica.put(world.tenant, amount, OnExceeded::deny);
  }

  test::World world;
  PayingReplica replica{world, kPricesByRegion};
};

TEST_F(RegionBudgets, WhatTheRegionCostsThatIsAskedForIsSetAside) {
  set_budget("1");
  EXPECT_EQ(code_of(create({"eu"}, {"a"})), ErrorCode::budget_exceeded);
  set_budget("9");
  EXPECT_EQ(run(create({"eu"}, {"a"})).region, "eu");
  EXPECT_EQ(world.sql("SELECT trim_scale(reserved) FROM budget"), "1.8");
}

TEST_F(RegionBudgets, OneThatMayBecomeTooDearIsLeftOut) {
  set_budget("1");
  EXPECT_EQ(run(create({})).deployment, "b");
}

}  // namespace
}  // namespace sandgate
