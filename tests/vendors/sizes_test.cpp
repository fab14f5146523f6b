#include <gtest/gtest.h>

#include <map>

#include "providers/catalog.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// What vendors give for a size that was asked for. Needs no fake.
namespace sandgate::test {
namespace {

class Sizes : public testing::TestWithParam<VendorLine> {
 protected:
  void SetUp() override {
    const ProviderConfig config{.settings = GetParam().settings("http://127.0.0.1:1"),
                                .credentials = GetParam().credentials};
    provider_ = find_provider_kind(GetParam().name)->make({http_, loop_.executor()}, config);
  }
  bool is_offered(const Resources& size) const {
    const DescriptorLimits limits = provider_->descriptor().limits;
    const auto within = [](int64_t value, int64_t most) { return most == 0 || value <= most; };
    return within(size.milli_vcpu, limits.max_milli_vcpu) &&
           within(size.memory_mib, limits.max_memory_mib) &&
           within(size.disk_gib, limits.max_disk_gib);
  }

  LiveLoop loop_;
  CurlClient http_;
  std::shared_ptr<Provider> provider_;
};

TEST_P(Sizes, AreAtLeastWhatWasAskedForAndStay) {
  for (const int64_t milli_vcpu : {250, 1000, 3000})
    for (const int64_t memory_mib : {512, 5000, 20'000})
      for (const int64_t disk_gib : {1, 7}) {
        const Resources asked{milli_vcpu, memory_mib, disk_gib, 64};
        if (!is_offered(asked)) continue;
        const Resources given = provider_->granted(asked);
        EXPECT_GE(given.milli_vcpu, asked.milli_vcpu);
        EXPECT_GE(given.memory_mib, asked.memory_mib);
        EXPECT_GE(given.disk_gib, asked.disk_gib);
        EXPECT_EQ(given.processes, asked.processes);
        EXPECT_EQ(provider_->granted(given), given) << milli_vcpu << " " << memory_mib;
      }
}

TEST_P(Sizes, OfAVendorWithOneAreAllOfIt) {
  const std::map<std::string, Resources> only{{"agentcore", {2000, 8192, 2}},
                                              {"agentcore_runtime", {2000, 8192, 2}},
                                              {"cloudflare", {500, 4096, 8}},
                                              {"e2b", {2000, 512, 10}},
                                              {"sprites", {8000, 512, 100}}};
  const auto found = only.find(GetParam().name);
  if (found == only.end()) return;
  EXPECT_EQ(provider_->granted({250, 512, 1}), found->second);
}

INSTANTIATE_TEST_SUITE_P(Vendors, Sizes, testing::ValuesIn(vendor_lines()),
                         [](const auto& line) { return line.param.name; });

}  // namespace
}  // namespace sandgate::test
