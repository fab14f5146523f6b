#include "local/agent/processes/ring.hpp"

#include <gtest/gtest.h>

namespace sandgate::agent {
namespace {

TEST(RingTest, ReadsFromAnyOffset) {
  Ring ring(100);
  ring.push(1, "hello ");
  ring.push(2, "wor");
  ring.push(2, "ld");
  EXPECT_EQ(ring.at(0).bytes, "hello ");
  EXPECT_EQ(ring.at(3).bytes, "lo ");
  EXPECT_EQ(ring.at(6).channel, 2);
  EXPECT_EQ(ring.at(8).bytes, "rld");
  EXPECT_TRUE(ring.at(11).bytes.empty());
  EXPECT_EQ(ring.end(), 11u);
}

TEST(RingTest, DropsTheOldestBytes) {
  Ring ring(10);
  ring.push(1, "0123456789");
  ring.push(2, "abc");
  EXPECT_EQ(ring.begin(), 3u);
  EXPECT_EQ(ring.at(0).offset, 3u);
  EXPECT_EQ(ring.at(0).bytes, "3456789");
  ring.push(1, std::string(50, 'x'));
  EXPECT_EQ(ring.size(), 10u);
  EXPECT_EQ(ring.at(0).offset, 53u);
  ring.trim(0);
  EXPECT_EQ(ring.begin(), ring.end());
  EXPECT_TRUE(ring.at(0).bytes.empty());
}

TEST(RingTest, BoundsTinyPieces) {
  Ring ring(1024 * 1024);
  for (int i = 0; i < 100'000; ++i) ring.push(static_cast<uint8_t>(1 + i % 2), "x");
  EXPECT_LE(ring.size(), 16u * 1024u);
  EXPECT_EQ(ring.end(), 100'000u);
  EXPECT_EQ(ring.pieces_from(0), Ring::kMaxPieces);
}

TEST(RingTest, CountsPiecesFromAnyOffset) {
  Ring ring(100);
  EXPECT_EQ(ring.pieces_from(0), 0u);
  ring.push(1, "abc");
  ring.push(2, "def");
  ring.push(1, "ghi");
  EXPECT_EQ(ring.pieces_from(0), 3u);
  EXPECT_EQ(ring.pieces_from(2), 3u);
  EXPECT_EQ(ring.pieces_from(3), 2u);
  EXPECT_EQ(ring.pieces_from(8), 1u);
  EXPECT_EQ(ring.pieces_from(9), 0u);
  ring.trim(4);
  EXPECT_EQ(ring.pieces_from(0), 2u);
  ring.trim(0);
  EXPECT_EQ(ring.pieces_from(0), 0u);
}

}  // namespace
}  // namespace sandgate::agent
