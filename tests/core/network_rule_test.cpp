#include "gateway/core/network_rule.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(NetworkRule, ReadsRulesIntoOneForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"api.example.com:443", "api.example.com:443"},
      {"*.Example.ORG:8443", "*.example.org:8443"},
      {"xn--bcher-kva.example:80", "xn--bcher-kva.example:80"},
      {"192.0.2.7:53", "192.0.2.7:53"},
      {"192.0.2.7/24:53", "192.0.2.0/24:53"},
      {"192.0.2.7/32:53", "192.0.2.7:53"},
      {"[2001:DB8::1]:443", "[2001:db8::1]:443"},
      {"[2001:db8::1/32]:443", "[2001:db8::/32]:443"},
  };
  for (const auto& [text, form] : cases) {
    const auto rule = network_rule_from(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(to_string(*rule), form);
  }
}

TEST(NetworkRule, RefusesWhatIsNoRule) {
  for (const char* text : {"",
                           "example.com",
                           "example.com:",
                           "example.com:0",
                           "example.com:65536",
                           "example.com:*",
                           "example.com:080",
                           ":443",
                           "*:443",
                           "*.*.example.com:443",
                           "a.*.example.com:443",
                           "a*.example.com:443",
                           "bücher.example:443",
                           "-a.example:443",
                           "a-.example:443",
                           "a..example:443",
                           "example.com.:443",
                           "1.2.3:443",
                           "0x7f.1:80",
                           "1.2.3.4.5:80",
                           "192.0.2.0/33:80",
                           "192.0.2.0/-1:80",
                           "192.0.2.0/-0:80",
                           "[2001:db8::1/-0]:443",
                           "192.0.2.0/:80",
                           "2001:db8::1:443",
                           "[fe80::1%eth0]:443",
                           "[2001:db8::1:443",
                           "http://example.com:80",
                           "example.com/path:80",
                           "user@example.com:80",
                           "a b.example:80",
                           "example.com: 80",
                           "example.com:80 "})
    EXPECT_FALSE(network_rule_from(text)) << text;
  EXPECT_FALSE(network_rule_from(std::string(64, 'a') + ".example:80"));
  EXPECT_FALSE(network_rule_from(std::string_view("example.com\0:80", 15)));
}

TEST(NetworkRule, CoversOnlyWhatItLetsOut) {
  struct Case {
    const char *wide, *narrow;
    bool covered;
  };
  const Case cases[] = {
      {"a.example.com:443", "A.example.com:443", true},
      {"a.example.com:443", "a.example.com:80", false},
      {"*.example.com:443", "a.example.com:443", true},
      {"*.example.com:443", "*.example.com:443", true},
      {"*.example.com:443", "example.com:443", false},
      {"*.example.com:443", "a.b.example.com:443", false},
      {"*.example.com:443", "*.b.example.com:443", false},
      {"*.example.com:443", "aexample.com:443", false},
      {"a.example.com:443", "*.example.com:443", false},
      {"192.0.2.0/24:443", "192.0.2.9:443", true},
      {"192.0.2.0/24:443", "192.0.2.128/25:443", true},
      {"192.0.2.0/24:443", "192.0.0.0/16:443", false},
      {"192.0.2.0/24:443", "192.0.3.1:443", false},
      {"[2001:db8::/32]:443", "[2001:db8:1::5]:443", true},
      {"[2001:db8::/32]:443", "[2001:db9::5]:443", false},
      {"0.0.0.0/0:443", "a.example.com:443", false},
      {"0.0.0.0/0:443", "[2001:db8::1]:443", false},
  };
  for (const auto& [wide, narrow, covered] : cases)
    EXPECT_EQ(covers(*network_rule_from(wide), *network_rule_from(narrow)), covered)
        << wide << " and " << narrow;
}

}  // namespace
}  // namespace sandgate
