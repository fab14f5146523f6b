#include "gateway/placement/gateway_descriptor.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_provider.hpp"

namespace sandgate {
namespace {

using test::FakeProvider;

TEST(GatewayDescriptor, PromisesWhatAllCanDo) {
  Descriptor strong = FakeProvider::capable("x"), weak = strong;
  weak.isolation = Isolation::container;
  weak.verbs.erase(Verb::pty);
  weak.limits.max_milli_vcpu = 500;
  const Descriptor all = gateway_descriptor(Profile{}, {strong, weak});
  EXPECT_EQ(all.isolation, Isolation::container);
  EXPECT_FALSE(all.can(Verb::pty));
  EXPECT_EQ(all.limits.max_milli_vcpu, 500);
  EXPECT_FALSE(all.controls.contains(Control::network_allow)) << "the profile denies";
}

TEST(GatewayDescriptor, NamesOnlyRegionsThatTheProfileAllows) {
  Descriptor one = FakeProvider::capable("x"), other = one;
  one.regions = {"eu", "us"};
  other.regions = {"asia"};
  Profile profile;
  EXPECT_EQ(gateway_descriptor(profile, {one, other}).regions.size(), 3u);
  profile.placement.regions = {"us", "asia"};
  EXPECT_EQ(gateway_descriptor(profile, {one, other}).regions,
            (std::vector<std::string>{"us", "asia"}));
}

}  // namespace
}  // namespace sandgate
