#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// What an adapter sends fits the vendor's own API description, where there is one on this machine.
namespace sandgate::test {
namespace {

class VendorRequests : public testing::TestWithParam<VendorLine> {
 protected:
  void SetUp() override {
    vendor_ = std::make_unique<Vendor>(GetParam(), loop_.executor());
    if (!vendor_->server().checks_requests())
      GTEST_SKIP() << "SANDGATE_VENDOR_SPECS names no folder with " << GetParam().specs;
  }
  Provider& provider() { return vendor_->provider(); }

  LiveLoop loop_;
  std::unique_ptr<Vendor> vendor_;
};

TEST_P(VendorRequests, FitTheVendorsDescription) {
  const bool denies = provider().descriptor().controls.contains(Control::network_deny);
  CreateSpec spec{.sandbox_id = SandboxId::make().value,
                  .image = GetParam().image,
                  .env = {{"A", "b"}},
                  .metadata = {{"run", "1"}},
                  .network = {.fallback = denies ? NetworkDefault::deny : NetworkDefault::allow}};
  const auto box = loop_.run(provider().create(spec));
  loop_.run(provider().extend(box.backend_id, std::chrono::seconds(300)));
  loop_.run(provider().list());
  loop_.run(provider().find_by_tag(spec.sandbox_id));
  loop_.run(provider().kill(box.backend_id));
  const Json state = vendor_->server().state();
  EXPECT_EQ(state["violations"], Json::array());
  EXPECT_GT(state["asked"].size(), 3u);
}

TEST_P(VendorRequests, ThatDoNotFitAreSeen) {
  CurlClient http;
  const std::string& create = GetParam().create;
  const size_t start = create.find('/');
  std::string path = GetParam().described;
  if (path.empty()) path = create.substr(start, create.size() - start - 1);
  HttpCall call{.method = "POST",
                .url = vendor_->server().url() + path,
                .headers = {{"Content-Type", "application/json"}},
                .body = R"({"no_such_member": 1})"};
  call.allow_private = true;
  loop_.run(http.call(std::move(call)));
  EXPECT_FALSE(vendor_->server().state()["violations"].empty());
}

// The others publish no description.
std::vector<VendorLine> described() {
  std::vector<VendorLine> lines = vendor_lines();
  std::erase_if(lines, [](const VendorLine& line) { return line.specs.empty(); });
  return lines;
}

INSTANTIATE_TEST_SUITE_P(Vendors, VendorRequests, testing::ValuesIn(described()),
                         [](const auto& line) { return line.param.name; });

}  // namespace
}  // namespace sandgate::test
