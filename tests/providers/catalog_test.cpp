#include "providers/catalog.hpp"

#include <gtest/gtest.h>

#include "providers/kind_settings.hpp"

namespace sandgate {
namespace {

std::vector<std::string> problems_of(const Json& settings, const Json& credentials) {
  Problems problems;
  find_provider_kind("sandgate")->validate(settings, credentials, problems);
  std::vector<std::string> paths;
  for (const auto& field : problems.fields()) paths.push_back(field.path);
  return paths;
}

TEST(Catalog, EveryKindIsFoundByItsName) {
  for (const auto& kind : provider_kinds()) EXPECT_EQ(find_provider_kind(kind.name), &kind);
  EXPECT_EQ(find_provider_kind("nobody"), nullptr);
}

TEST(Catalog, MistakesOfARowHavePaths) {
  using Paths = std::vector<std::string>;
  const Json good{{"url", "https://example.com/"}, {"profile", "python"}};
  const Json key{{"api_key", "sg_1"}};
  EXPECT_EQ(problems_of(good, key), Paths{});
  EXPECT_EQ(problems_of(Json::object(), Json::object()),
            (Paths{"/settings/url", "/settings/profile", "/credentials/api_key"}));
  for (const char* url :
       {"ftp://x", "nonsense", "https://u:p@x/", "https://x/?q=1", "https://x:99999"})
    EXPECT_EQ(problems_of({{"url", url}, {"profile", "p"}}, key), Paths{"/settings/url"}) << url;
  EXPECT_EQ(problems_of(good, {{"api_key", "a\r\nb"}}), Paths{"/credentials/api_key"});
}

// All mistakes are told at once, each at its own place.
TEST(Catalog, MistakesWithinASettingHavePaths) {
  const Json limits{{"vcpu", "two"}, {"memory_mib", 5}, {"disk", 1}};
  const Json isolation{{"gvisor", "strong"}, {"kata/qemu", "microvm"}, {"none", "process"}};
  for (const ProviderKind& kind : provider_kinds()) {
    if (kind.name == "sandgate") continue;  // that gateway tells its limits
    Problems problems;
    kind.validate({{"limits", limits}, {"isolation", isolation}}, Json::object(), problems);
    std::set<std::string> paths;
    for (const auto& field : problems.fields()) paths.insert(field.path);
    for (const char* name : {"vcpu", "memory_mib", "disk"})
      EXPECT_TRUE(paths.contains(std::string("/settings/limits/") + name)) << kind.name << name;
    EXPECT_FALSE(paths.contains("/settings/limits")) << kind.name;
    if (kind.name != "kubernetes") continue;
    EXPECT_TRUE(paths.contains("/settings/isolation/gvisor"));
    EXPECT_TRUE(paths.contains("/settings/isolation/none"));
    EXPECT_FALSE(paths.contains("/settings/isolation/kata~1qemu"));
  }
}

// Whichever kind it is, and whatever its setting is called.
TEST(Catalog, PrivateUrlsInATenantsSettingsHavePaths) {
  Problems problems;
  refuse_private_urls({{"api_url", "http://0x7f000001/"},
                       {"control_url", "https://control.example.com"},
                       {"creates_per_minute", 10},
                       {"sandbox_url", "https://[::ffff:169.254.169.254]:8443"},
                       {"url", "http://2130706433/"}},
                      problems);
  std::vector<std::string> paths;
  for (const auto& field : problems.fields()) paths.push_back(field.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/settings/api_url", "/settings/sandbox_url",
                                             "/settings/url"}));
}

// A deployment that fixes the network says so in the words of profiles, whichever kind it is.
TEST(Catalog, AFixedNetworkHasTheSameWordsEverywhere) {
  const auto complaint = [](const ProviderKind& kind, const char* word) -> std::string {
    Problems problems;
    kind.validate({{"network", word}}, Json::object(), problems);
    for (const auto& field : problems.fields())
      if (field.path == "/settings/network") return field.message;
    return "";
  };
  int kinds = 0;
  for (const ProviderKind& kind : provider_kinds()) {
    const std::string message = complaint(kind, "sometimes");
    if (message == "is not a known field") continue;
    ++kinds;
    EXPECT_EQ(message, "must be one of: allow, deny") << kind.name;
    for (const char* word : {"allow", "deny", "public", "none"})
      EXPECT_EQ(complaint(kind, word), "") << kind.name << " " << word;
  }
  EXPECT_GE(kinds, 3);
}

TEST(Catalog, OlderWordsForTheNetworkMeanWhatTheyDid) {
  for (const auto& [word, denies] : {std::pair{"allow", false}, std::pair{"deny", true},
                                     std::pair{"public", false}, std::pair{"none", true}}) {
    const Json settings{{"network", word}};
    Problems problems;
    ObjectReader reader(settings, problems);
    EXPECT_EQ(read_network_deny(reader), denies) << word;
    EXPECT_TRUE(problems.empty());
  }
  const Json settings = Json::object();
  Problems problems;
  ObjectReader reader(settings, problems);
  EXPECT_FALSE(read_network_deny(reader));
}

}  // namespace
}  // namespace sandgate
