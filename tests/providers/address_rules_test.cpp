#include "providers/address_rules.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(AddressRules, OnlyThePublicInternetIsPublic) {
  for (const char* text : {"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "2606:4700::1111",
                           "::ffff:8.8.8.8", "64:ff9b::808:808", "168.63.129.17", "3fff:1000::1"})
    EXPECT_TRUE(is_public_address(text)) << text;
  for (const char* text : {"0.0.0.0",
                           "10.1.2.3",
                           "100.64.0.1",
                           "127.0.0.1",
                           "168.63.129.16",
                           "169.254.169.254",
                           "172.16.0.1",
                           "192.168.1.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1%eth0",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "64:ff9b::7f00:1",
                           "2002:7f00:1::",
                           "2001:db8::1",
                           "3fff:fff::1",
                           "::127.0.0.1",
                           "nonsense",
                           ""})
    EXPECT_FALSE(is_public_address(text)) << text;
}

}  // namespace
}  // namespace sandgate
