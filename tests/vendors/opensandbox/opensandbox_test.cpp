#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "providers/byte_sources.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// What all verbs of an OpenSandbox server are asked for, against its published descriptions.
namespace sandgate::test {
namespace {

Json denying_settings(const std::string& url) {
  return {{"api_url", url + "/v1"}, {"egress_enforced", true}, {"secure_access", true}};
}

TEST(OpenSandboxServer, RequestsFitItsDescriptions) {
  LiveLoop loop;
  std::unique_ptr<Vendor> vendor;
  for (VendorLine line : vendor_lines()) {
    if (line.name != "opensandbox") continue;
    line.settings = &denying_settings;
    line.specs = "opensandbox";
    vendor = std::make_unique<Vendor>(line, loop.executor());
  }
  Provider& provider = vendor->provider();
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = "tools", .env = {{"A", "b"}}};
  const auto box = loop.run(provider.create(spec));
  loop.run(provider.extend(box.backend_id, std::chrono::seconds(300)));
  EXPECT_EQ(loop.run(provider.list()).size(), 1u);
  EXPECT_TRUE(loop.run(provider.find_by_tag(spec.sandbox_id)));
  TextBytes file("text");
  EXPECT_EQ(loop.run(provider.write_file(box.backend_id, "f", 0600, file)).size, 4u);
  loop.run(provider.read_file(box.backend_id, "f", {}));
  loop.run(provider.pause(box.backend_id, Keeps::memory));
  loop.run(provider.resume(box.backend_id));
  const std::string name = SnapshotId::make().value;
  const auto taken = loop.run(provider.snapshot(box.backend_id, name, Keeps::disk, true));
  loop.run(provider.remove_snapshot(taken.backend_id));
  loop.run(provider.kill(box.backend_id));
  EXPECT_EQ(vendor->server().state()["boxes"], Json::array());
  if (!vendor->server().checks_requests()) GTEST_SKIP() << "SANDGATE_VENDOR_SPECS is not set";
  EXPECT_EQ(vendor->server().state()["violations"], Json::array());
}

}  // namespace
}  // namespace sandgate::test
