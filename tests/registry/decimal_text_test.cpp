#include "registry/decimal_text.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(DecimalText, KnowsDecimals) {
  for (const char* text : {"0", "0.20", "12", "000.5", "999999999999.999999999999"})
    EXPECT_TRUE(is_decimal(text)) << text;
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "0x1",
                           "1234567890123", "0.1234567890123", "1.2.3"})
    EXPECT_FALSE(is_decimal(text)) << text;
  EXPECT_TRUE(is_positive_decimal("0.000001"));
  EXPECT_FALSE(is_positive_decimal("0.000"));
}

TEST(DecimalText, ComparesByValue) {
  EXPECT_EQ(compare_decimals("0.2", "0.20"), std::strong_ordering::equal);
  EXPECT_EQ(compare_decimals("9", "10"), std::strong_ordering::less);
  EXPECT_EQ(compare_decimals("0.3", "0.29"), std::strong_ordering::greater);
  EXPECT_EQ(compare_decimals("007", "7.000"), std::strong_ordering::equal);
}

}  // namespace
}  // namespace sandgate
