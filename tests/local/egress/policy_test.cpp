#include "local/egress/policy.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"

namespace sandgate::egress {
namespace {

Policy allowing(std::vector<std::string> rules) {
  return Policy(NetworkPolicy{NetworkDefault::deny, std::move(rules)});
}

TEST(Target, ReadsNamesAndAddressesInOneForm) {
  const std::pair<const char*, Target> cases[] = {
      {"API.Example.com:443", {"api.example.com", 443}},
      {"192.0.2.1:80", {"192.0.2.1", 80}},
      {"[2001:DB8::1]:443", {"[2001:db8::1]", 443}},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(target_from(text), wanted) << text;
  EXPECT_EQ(target_from("example.com", 80), (Target{"example.com", 80}));
  EXPECT_EQ(target_from("[::1]", 80), (Target{"[::1]", 80}));
}

TEST(Target, RefusesWhatReadersReadDifferently) {
  for (const char* text :
       {"", ":443", "example.com", "example.com:", "example.com:0", "example.com:080",
        "example.com:65536", "example.com:44 3", "user@example.com:443", "example.com.:443",
        "0x7f.1:80", "127.1:80", "2130706433:80", "[::1%lo]:80", "[::1:80", "a b:80",
        "example.com:443:443", "http://example.com:80", "ex\nample.com:80"})
    EXPECT_FALSE(target_from(text)) << text;
}

TEST(Policy, AllowsExactlyWhatARuleSays) {
  const Policy policy = allowing({"api.example.com:443", "*.example.org:443", "192.0.2.0/24:5432"});
  for (const Target& target :
       {Target{"api.example.com", 443}, Target{"a.example.org", 443}, Target{"192.0.2.77", 5432}})
    EXPECT_TRUE(policy.allows(target)) << to_string(target);
  for (const Target& target :
       {Target{"api.example.com", 80}, Target{"example.org", 443}, Target{"a.b.example.org", 443},
        Target{"api.example.com.evil.org", 443}, Target{"192.0.3.1", 5432},
        Target{"192.0.2.77", 443}, Target{"xexample.org", 443}})
    EXPECT_FALSE(policy.allows(target)) << to_string(target);
}

TEST(Policy, KnowsNamesOnAnyPortAndNothingByDefault) {
  const Policy policy = allowing({"api.example.com:443", "*.example.org:8443"});
  EXPECT_TRUE(policy.knows("api.example.com"));
  EXPECT_TRUE(policy.knows("a.example.org"));
  EXPECT_FALSE(policy.knows("secret.data.api.example.com"));
  EXPECT_FALSE(policy.knows("example.org"));
  EXPECT_FALSE(policy.knows(""));
  EXPECT_FALSE(Policy().knows("api.example.com"));
  EXPECT_FALSE(Policy().allows({"api.example.com", 443}));
  const Policy open(NetworkPolicy{NetworkDefault::allow, {}});
  EXPECT_TRUE(open.knows("whatever.example"));
  EXPECT_FALSE(open.knows("not a name"));
}

TEST(Policy, RefusesWhatIsNoRule) { EXPECT_THROW(allowing({"example.com"}), Error); }

}  // namespace
}  // namespace sandgate::egress
