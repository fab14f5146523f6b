#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "registry/profile_parse.hpp"

namespace sandgate {
namespace {

// Clients that ask for these by name expect the internet.
bool is_for_other_clients(const std::string& name) {
  return name == "base" || name == "code-interpreter-v1";
}

TEST(ShippedProfiles, AreValidAndDenyTheNetwork) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SANDGATE_PROFILES)) {
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const std::string name = file.path().stem();

    const Profile profile = parse_profile_yaml(text.str(), name);

    EXPECT_EQ(profile.name, name);
    EXPECT_FALSE(profile.description.empty()) << name;
    EXPECT_EQ(profile.image, "debian-12") << name;
    EXPECT_EQ(profile.network.fallback == NetworkDefault::allow, is_for_other_clients(name))
        << name;
    EXPECT_FALSE(profile.allow_root) << name;
    ++count;
  }
  EXPECT_GE(count, 3);
}

}  // namespace
}  // namespace sandgate
