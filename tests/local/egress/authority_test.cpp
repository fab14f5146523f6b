#include "local/egress/authority.hpp"

#include <gtest/gtest.h>

namespace sandgate::egress {
namespace {

std::string host(int number) { return "h" + std::to_string(number) + ".example"; }

TEST(Authority, VouchesForNewHostsAsLongAsOldOnesAreForgotten) {
  Authority authority("sb1");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i) authority.context_for(host(100 * round + i));
    authority.keep_only({host(100 * round)});
  }
  const auto* kept = &authority.context_for(host(200));
  EXPECT_EQ(kept, &authority.context_for(host(200)));
}

}  // namespace
}  // namespace sandgate::egress
