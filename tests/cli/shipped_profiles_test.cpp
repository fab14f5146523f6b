#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "registry/effective_request.hpp"
#include "registry/profile_parse.hpp"
#include "registry/yaml.hpp"

namespace sandgate {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Programs written for E2B expect the internet in its two, and installing packages needs it.
bool has_the_internet(const std::string& name) {
  return name == "base" || name == "code-interpreter-v1" || name == "packages";
}

TEST(ShippedProfiles, AreValidAndDenyTheNetwork) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SANDGATE_PROFILES)) {
    const std::string name = file.path().stem();

    const Profile profile = parse_profile_yaml(text_of(file.path()), name);

    EXPECT_EQ(profile.name, name);
    EXPECT_FALSE(profile.description.empty()) << name;
    EXPECT_EQ(profile.image, "debian-12") << name;
    EXPECT_EQ(profile.network.fallback == NetworkDefault::allow, has_the_internet(name)) << name;
    EXPECT_FALSE(profile.allow_root) << name;
    ++count;
  }
  EXPECT_GE(count, 3);
}

// Examples are the first that people send.
TEST(ShippedProfiles, AcceptTheDocumentedExamplesOfACreate) {
  const Json document = yaml_to_json(text_of(SANDGATE_OPENAPI));
  const Json& create = document.at("paths").at("/v1/sandboxes").at("post").at("requestBody");
  const Json& examples = create.at("content").at("application/json").at("examples");
  EXPECT_GE(examples.size(), 2u);
  for (const auto& [title, example] : examples.items()) {
    const Json& body = example.at("value");
    std::string name = profile_reference(body);
    name.erase(std::min(name.find('@'), name.size()));
    const std::filesystem::path file = std::filesystem::path(SANDGATE_PROFILES) / (name + ".yaml");
    ASSERT_TRUE(std::filesystem::exists(file)) << title;
    EXPECT_NO_THROW(merge(parse_profile_yaml(text_of(file), name), body)) << title;
  }
}

}  // namespace
}  // namespace sandgate
