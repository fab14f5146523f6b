#include "local/egress/synthetic_names.hpp"

#include <gtest/gtest.h>

namespace sandgate::egress {
namespace {

TEST(SyntheticNames, GivesEachNameOneAddressAndBack) {
  SyntheticNames names(0);
  const uint32_t a = names.address_of("a.example"), b = names.address_of("b.example");
  EXPECT_NE(a, b);
  EXPECT_EQ(names.address_of("a.example"), a);
  EXPECT_EQ(names.name_of(a), "a.example");
  EXPECT_EQ(a >> 17, SyntheticNames::kBase >> 17);
  EXPECT_FALSE(names.name_of(b + 1));
}

TEST(SyntheticNames, IsBoundedAndForgetsTheOldest) {
  SyntheticNames names(SyntheticNames::kCount - 5);
  const uint32_t first = names.address_of("first"), second = names.address_of("second");
  for (size_t i = 0; i < SyntheticNames::kMaxNames - 2; ++i)
    names.address_of("n" + std::to_string(i));
  names.address_of("first");  // used again
  names.address_of("one more");
  EXPECT_EQ(names.name_of(first), "first");
  EXPECT_FALSE(names.name_of(second));
  EXPECT_NE(names.address_of("second"), second);
}

}  // namespace
}  // namespace sandgate::egress
