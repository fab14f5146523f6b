#include "gateway/sandboxes/upkeep/live_counts.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate {
namespace {

using test::run;
using test::World;

std::string text_of(LiveCounts& counts) {
  run(counts.refresh());
  MetricText text;
  counts.render(text);
  return text.str();
}

bool counts_as(const std::string& text, const std::string& deployment, const std::string& state,
               int count) {
  const std::string line = "\nsandgate_sandboxes{deployment=\"" + deployment + "\",state=\"" +
                           state + "\"} " + std::to_string(count) + "\n";
  return text.find(line) != std::string::npos;
}

TEST(LiveCounts, AreByDeploymentAndStateWithoutWhatHasEnded) {
  World world;
  LiveCounts counts(*world.database, world.replica.deployments);
  EXPECT_EQ(text_of(counts).find("\nsandgate_sandboxes{"), std::string::npos);
  const SandboxRecord one = world.create(), two = world.create();
  EXPECT_TRUE(counts_as(text_of(counts), "a", "running", 2)) << text_of(counts);
  run(world.replica.lifecycle.kill(world.tenant, one.id));
  EXPECT_TRUE(counts_as(text_of(counts), "a", "running", 1)) << text_of(counts);
  world.a->refuse_kills(true);
  run(world.replica.lifecycle.kill(world.tenant, two.id));
  EXPECT_TRUE(counts_as(text_of(counts), "a", "stopping", 1)) << text_of(counts);
}

TEST(LiveCounts, ShowNoNameThatATenantGave) {
  World world;
  LiveCounts counts(*world.database, world.replica.deployments);
  for (const char* name : {"theirs", "others"}) {
    const SandboxRecord box = world.create();
    world.sql("UPDATE sandbox SET deployment = '" + std::string(name) + "' WHERE id = '" +
              box.id.value + "' RETURNING 1");
  }
  const std::string text = text_of(counts);
  EXPECT_TRUE(counts_as(text, "(tenants)", "running", 2)) << text;
  EXPECT_EQ(text.find("theirs"), std::string::npos);
}

}  // namespace
}  // namespace sandgate
