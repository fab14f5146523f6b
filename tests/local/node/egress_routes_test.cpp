#include "local/node/egress/egress_routes.hpp"

#include <gtest/gtest.h>

namespace sandgate::test {
namespace {

using Routes = std::set<std::string>;

Routes routes_of(std::vector<std::string> allow) {
  return egress_routes({NetworkDefault::deny, std::move(allow)});
}

const std::string kNames = "198.18.0.0/15";

TEST(EgressRoutes, LeadToNamesAndToAddressesOfRules) {
  EXPECT_EQ(routes_of({}), Routes{kNames});
  EXPECT_EQ(routes_of({"api.example.com:443", "*.example.org:443"}), Routes{kNames});
  EXPECT_EQ(routes_of({"192.0.2.0/24:443", "192.0.2.0/24:80", "8.8.8.8:53", "[2001:DB8::1]:443"}),
            (Routes{kNames, "192.0.2.0/24", "8.8.8.8", "2001:db8::1"}));
  EXPECT_EQ(routes_of({"127.0.0.1:80", "[::1]:80"}), Routes{kNames}) << "the sandbox's own";
  EXPECT_EQ(egress_routes({NetworkDefault::allow, {}}), Routes{"0.0.0.0/0"});
}

TEST(EgressRoutes, LeadToFewAddressesOfIpv6) {
  EXPECT_EQ(routes_of({"[2001:db8::/120]:443"}), (Routes{kNames, "2001:db8::/120"}));
  EXPECT_EQ(routes_of({"[2001:db8::/119]:443"}), Routes{kNames});
  for (const char* wide : {"[::/0]:443", "[2000::/3]:443", "[2001:db8::/64]:443"})
    EXPECT_EQ(routes_of({wide, "[2001:db8::1]:443"}), (Routes{kNames, "2001:db8::1"})) << wide;
  EXPECT_EQ(routes_of({"[2001:db8::/121]:1", "[2001:db8::/121]:2", "[2001:db8:1::/121]:1",
                       "[2001:db8:2::1]:1"}),
            (Routes{kNames, "2001:db8::/121", "2001:db8:1::/121"}))
      << "a block counts once, and all together";
}

TEST(EgressRoutes, LeadToEachAddressOfAFullPolicy) {
  std::vector<std::string> rules;
  for (int i = 1; i <= kMaxRoutedV6; ++i)
    rules.push_back("[2001:db8::" + std::to_string(i) + "]:80");
  EXPECT_EQ(routes_of(rules).size(), rules.size() + 1);
}

}  // namespace
}  // namespace sandgate::test
