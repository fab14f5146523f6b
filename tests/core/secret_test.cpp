#include "gateway/core/secret.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string_view>

namespace sandgate {
namespace {

constexpr std::string_view kShortSecret = "hunter2";  // kept within the object itself

// The object's own bytes, in which a short value lies.
std::string_view bytes_of(const Secret& secret) {
  return {reinterpret_cast<const char*>(&secret), sizeof secret};
}

bool holds(const Secret& secret) {
  return bytes_of(secret).find(kShortSecret) != std::string_view::npos;
}

TEST(Secret, LeavesNothingWhereItWasMovedFrom) {
  Secret first{std::string(kShortSecret)};
  ASSERT_TRUE(holds(first));
  Secret second(std::move(first));
  EXPECT_FALSE(holds(first));
  EXPECT_EQ(second.reveal(), kShortSecret);
  Secret third;
  third = std::move(second);
  EXPECT_FALSE(holds(second));
  EXPECT_EQ(third.reveal(), kShortSecret);
}

TEST(Secret, LeavesNothingOfWhatItReplaced) {
  Secret secret{std::string(kShortSecret)};
  // A longer value lies elsewhere, a shorter one covers a part only.
  secret = Secret(std::string(100, 'x'));
  EXPECT_FALSE(holds(secret));
  secret = Secret{std::string(kShortSecret)};
  secret = Secret("y");
  EXPECT_EQ(bytes_of(secret).find(kShortSecret.substr(2)), std::string_view::npos);
  EXPECT_EQ(secret.reveal(), "y");
}

TEST(Secret, IsCopiedAndNeverPrinted) {
  const Secret secret{std::string(kShortSecret)};
  Secret copy = secret;
  EXPECT_EQ(copy.reveal(), kShortSecret);
  EXPECT_EQ(secret.reveal(), kShortSecret);
  std::ostringstream text;
  text << secret;
  EXPECT_EQ(text.str(), "[secret]");
}

}  // namespace
}  // namespace sandgate
