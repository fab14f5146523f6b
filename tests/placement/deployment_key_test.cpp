#include "gateway/placement/deployment_key.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(DeploymentKey, ReadsWhatItWrote) {
  const DeploymentKey shared{"eu"}, own{"eu", TenantId::make()};
  EXPECT_NE(shared, own);
  EXPECT_EQ(shared.text(), "eu");
  EXPECT_EQ(own.text(), own.tenant->value + "/eu");
  for (const DeploymentKey& key : {shared, own}) EXPECT_EQ(DeploymentKey::from(key.text()), key);
}

}  // namespace
}  // namespace sandgate
