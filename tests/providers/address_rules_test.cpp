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

TEST(AddressRules, APortIsFromOneTo65535) {
  for (const char* text : {"1", "80", "00080", "65535"}) EXPECT_TRUE(is_port(text)) << text;
  for (const char* text : {"", "0", "65536", "99999", "-1", "+1", "80x", " 80"})
    EXPECT_FALSE(is_port(text)) << text;
}

TEST(AddressRules, AUrlNamesAPrivateAddressInAnyForm) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1.", "127.1", "0177.0.0.1", "0x7f000001", "0X7F.1", "2130706433",
        "%31%32%37.0.0.1", "10.1.2.3", "2852039166", "0", "localhost", "LOCALHOST", "localhost.",
        "a.localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a00:1]"})
    for (const std::string rest : {"", "/", ":8080/v1"})
      EXPECT_TRUE(names_private_address("http://" + std::string(host) + rest)) << host;
  for (const char* url :
       {"https://8.8.8.8/", "https://134744072", "https://0x08080808", "https://[2606:4700::1111]",
        "https://[::ffff:8.8.8.8]/", "https://example.com", "https://localhost.example.com",
        "localhost:5000/image", "debian:12", "10.0.0.1", "", "no"})
    EXPECT_FALSE(names_private_address(url)) << url;
}

}  // namespace
}  // namespace sandgate
