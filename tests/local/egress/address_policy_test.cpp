#include "local/egress/address_policy.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"

namespace sandgate::egress {
namespace {

boost::asio::ip::address address(const char* text) { return boost::asio::ip::make_address(text); }

bool allows(const AddressPolicy& policy, const char* text) {
  return !policy.choose({address(text)}, 1).empty();
}

TEST(AddressPolicy, ThePublicInternetAndNothingElse) {
  const AddressPolicy policy;
  for (const char* text : {"93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "172.32.0.1"})
    EXPECT_TRUE(allows(policy, text)) << text;
  for (const char* text : {"127.0.0.1",
                           "127.8.9.1",
                           "10.0.0.1",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "169.254.169.254",
                           "169.254.0.1",
                           "100.64.0.1",
                           "0.0.0.0",
                           "0.1.2.3",
                           "224.0.0.1",
                           "240.0.0.1",
                           "255.255.255.255",
                           "192.0.2.1",
                           "198.18.0.1",
                           "198.51.100.1",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "2001:db8::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::7f00:1",
                           "64:ff9b::a9fe:a9fe",
                           "2002:7f00:1::",
                           "2002:a9fe:a9fe::1",
                           "2001::1",
                           "100::1"})
    EXPECT_FALSE(allows(policy, text)) << text;
}

TEST(AddressPolicy, AddressesInOthersAreJudgedByWhatTheyAre) {
  const AddressPolicy policy;
  for (const char* text : {"::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"})
    EXPECT_TRUE(allows(policy, text)) << text;
  for (const char* text : {"::ffff:169.254.169.254", "64:ff9b::a00:1", "2002:a00:1::1",
                           "::127.0.0.1", "64:ff9b:1::a00:1", "168.63.129.16"})
    EXPECT_FALSE(allows(policy, text)) << text;
}

TEST(AddressPolicy, BlocksOfTheOperator) {
  const AddressPolicy policy({"127.0.0.0/8", "10.1.0.0/16", "fd00:1::/32"});
  for (const char* text : {"127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"})
    EXPECT_TRUE(allows(policy, text)) << text;
  for (const char* text : {"10.2.0.1", "169.254.169.254", "::1", "fd00:2::5"})
    EXPECT_FALSE(allows(policy, text)) << text;
  EXPECT_THROW(AddressPolicy({"10.0.0.0"}), Error);
  EXPECT_THROW(AddressPolicy({"nonsense"}), Error);
}

TEST(AddressPolicy, LooksAtTheFirstFewOnly) {
  const AddressPolicy policy;
  std::vector<boost::asio::ip::address> found(31, address("10.0.0.1"));
  found.insert(found.end(), 5, address("1.1.1.1"));
  EXPECT_EQ(policy.choose(found, 4).size(), 1u) << "the 32nd";
  found.erase(found.begin(), found.begin() + 20);
  EXPECT_EQ(policy.choose(found, 4).size(), 4u);
}

}  // namespace
}  // namespace sandgate::egress
