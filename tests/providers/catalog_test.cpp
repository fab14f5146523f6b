#include "providers/catalog.hpp"

#include <gtest/gtest.h>

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
  for (const char* url : {"ftp://x", "nonsense", "https://u:p@x/", "https://x/?q=1"})
    EXPECT_EQ(problems_of({{"url", url}, {"profile", "p"}}, key), Paths{"/settings/url"}) << url;
  EXPECT_EQ(problems_of(good, {{"api_key", "a\r\nb"}}), Paths{"/credentials/api_key"});
}

}  // namespace
}  // namespace sandgate
