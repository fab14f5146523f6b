#include "billing/currency.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(Currency, KnowsTheMinorUnitsOfAllMoneyInUse) {
  for (const char* code : {"USD", "EUR", "MYR", "THB", "COP", "TWD", "PHP", "EGP", "IDR", "ZWG"})
    EXPECT_EQ(minor_digits(code), 2) << code;
  for (const char* code : {"JPY", "ISK", "CLP", "VND", "KRW", "XOF", "XPF", "BIF"})
    EXPECT_EQ(minor_digits(code), 0) << code;
  for (const char* code : {"BHD", "KWD", "TND", "OMR"}) EXPECT_EQ(minor_digits(code), 3) << code;
}

TEST(Currency, RefusesWhatIsNoMoney) {
  for (const char* code :
       {"", "US", "USDX", "usd", "SD ", "XTS", "XAU", "CLF", "DEM", "HRK", "USD EUR", " US"})
    EXPECT_FALSE(minor_digits(code)) << code;
  EXPECT_FALSE(minor_digits(std::string(3, 'X'))) << "the standard's own code for no currency";
}

}  // namespace
}  // namespace sandgate
