#include "gateway/core/number_text.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(NumberText, ReadsTextThatIsANumberAsAWhole) {
  EXPECT_EQ(number_from<int>("0"), 0);
  EXPECT_EQ(number_from<int>("-17"), -17);
  EXPECT_EQ(number_from<int>("007"), 7);
  EXPECT_EQ(number_from<unsigned>("755", 8), 0755);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "x1", "1.0", "0x1", "--1"})
    EXPECT_FALSE(number_from<int>(text)) << text;
}

TEST(NumberText, ReadsWhatTheTypeHolds) {
  EXPECT_EQ(number_from<uint16_t>("65535"), 65535);
  EXPECT_FALSE(number_from<uint16_t>("65536"));
  EXPECT_FALSE(number_from<uint64_t>("-1"));
  EXPECT_FALSE(number_from<uint64_t>("-0"));
  EXPECT_EQ(number_from<int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_FALSE(number_from<int64_t>("9223372036854775808"));
}

TEST(NumberText, ReadsPortsAsTheyArePrinted) {
  EXPECT_EQ(port_number_from("1"), 1);
  EXPECT_EQ(port_number_from("65535"), 65535);
  for (const char* text : {"", "0", "080", "65536", "-1", "+1", "80 ", "http"})
    EXPECT_FALSE(port_number_from(text)) << text;
}

}  // namespace
}  // namespace sandgate
