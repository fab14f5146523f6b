#include "providers/northflank/northflank.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

// A file that comes slowly, for ten seconds.
class SlowFile : public ByteSource {
 public:
  Task<size_t> read(std::span<char> into) override {
    if (++reads_ > 100) co_return 0;
    co_await sleep_for(std::chrono::milliseconds(100));
    into[0] = 'x';
    co_return 1;
  }

 private:
  int reads_ = 0;
};

// An account has a thousand requests an hour, and a list takes one for each hundred services.
TEST(Northflank, ACreateWhoseAnswerWasLostIsFoundByItsNameAlone) {
  LiveLoop loop;
  const auto line = *std::ranges::find(vendor_lines(), "northflank", &VendorLine::name);
  Vendor vendor(line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line.image};
  spec.network.fallback = NetworkDefault::allow;
  vendor.server().fault({{"match", line.create}, {"kind", "lost_reply"}, {"times", 1}});
  ASSERT_TRUE(std::holds_alternative<Error>(loop.run(attempt(vendor.provider().create(spec)))));
  const auto found = loop.run(vendor.provider().find_by_tag(spec.sandbox_id));
  ASSERT_TRUE(found);
  EXPECT_EQ(loop.run(vendor.provider().create(spec)).backend_id, found->backend_id);
  const Json state = vendor.server().state();
  EXPECT_EQ(state["created"], 1);
  for (const Json& asked : state["asked"])
    EXPECT_FALSE(asked.get<std::string>().ends_with("/services")) << asked;
  loop.run(vendor.provider().kill(found->backend_id));
}

TEST(Northflank, AnUploadThatTheSandboxRefusesEndsBeforeItsFile) {
  LiveLoop loop;
  for (const VendorLine& line : vendor_lines()) {
    if (line.name != "northflank") continue;
    Vendor vendor(line, loop.executor());
    CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line.image};
    spec.network.fallback = NetworkDefault::allow;
    const std::string id = loop.run(vendor.provider().create(std::move(spec))).backend_id;
    const auto begin = std::chrono::steady_clock::now();
    SlowFile file;
    const auto outcome =
        loop.run(attempt(vendor.provider().write_file(id, "/proc/file", 0644, file)));
    ASSERT_TRUE(std::holds_alternative<Error>(outcome));
    EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::invalid);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    loop.run(vendor.provider().kill(id));
  }
}

}  // namespace
}  // namespace sandgate::test
