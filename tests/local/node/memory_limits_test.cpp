#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "local/namespaces/cgroup.hpp"
#include "local/node/machine/machine_capabilities.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

bool notes(const Capabilities& capabilities, std::string_view words) {
  const Descriptor descriptor = describe(capabilities);
  return std::ranges::any_of(descriptor.notes,
                             [&](const std::string& note) { return note.starts_with(words); });
}

TEST(MemoryLimits, SwapIsLimitedByItsFileOrWhereThereIsNone) {
  const TempDirectory directory;
  const std::string file = directory.path() + "/memory.swap.max";
  const std::string swaps = directory.path() + "/swaps";
  std::ofstream(swaps) << "Filename Type Size Used Priority\n";
  EXPECT_TRUE(swap_is_limited(file, swaps.c_str()));
  std::ofstream(swaps, std::ios::app) << "/dev/sda2 partition 1000 0 -2\n";
  EXPECT_FALSE(swap_is_limited(file, swaps.c_str()));
  std::ofstream(file) << "max\n";
  EXPECT_TRUE(swap_is_limited(file, swaps.c_str()));
}

TEST(MemoryLimits, WhatTheyLackIsSaidWhateverTheVersion) {
  for (const int version : {1, 2}) {
    Capabilities capabilities;
    capabilities.cgroups = {.version = version, .memory = true, .swap = true};
    EXPECT_TRUE(notes(capabilities, "out of memory ends one process"));
    EXPECT_FALSE(notes(capabilities, "swap is not limited"));
    capabilities.cgroups.swap = false;
    EXPECT_TRUE(notes(capabilities, "swap is not limited"));
  }
}

}  // namespace
}  // namespace sandgate::test
