#include "gateway/cli/copy.hpp"

#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"

namespace sandgate::cli {
namespace {

TEST(Place, AnIdAndAColonIsASandbox) {
  const std::string id = make_id("sb");

  const Place place = place_from(id + ":/tmp/a:b");

  EXPECT_EQ(place.sandbox, id);
  EXPECT_EQ(place.path, "/tmp/a:b");
}

TEST(Place, AnythingElseIsLocal) {
  for (const std::string path : {"a.txt", "./x:y", "C:stuff", "sb:short", "/tmp"}) {
    EXPECT_EQ(place_from(path).sandbox, "");
    EXPECT_EQ(place_from(path).path, path);
  }
}

}  // namespace
}  // namespace sandgate::cli
