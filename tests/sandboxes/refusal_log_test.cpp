#include "gateway/sandboxes/creating/refusal_log.hpp"

#include <gtest/gtest.h>

#include "gateway/core/log.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::run;
using test::World;

class RefusalLogTest : public testing::Test {
 protected:
  RefusalLogTest() { log::configure(log::Format::text, "info"); }
  ~RefusalLogTest() override { log::configure(before_); }

  // What a create of this order writes to the log.
  std::string log_of(World& world, CreateOrder order, ErrorCode code) {
    order.request_id = "rq-of-the-call";
    testing::internal::CaptureStderr();
    EXPECT_EQ(code_of([&] { run(world.replica.lifecycle.create(std::move(order))); }), code);
    return testing::internal::GetCapturedStderr();
  }

 private:
  const nlohmann::json before_ = log::settings();
};

size_t lines_with(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(RefusalLogTest, ARequestsIdLeadsToWhatSpeaksAgainstEachDeployment) {
  World world;
  const auto nowhere = [](Profile& profile) { profile.placement.only = {"b"}; };
  CreateOrder order = world.order(nowhere);
  order.request.profile.image = "no-such-image";
  const std::string text = log_of(world, std::move(order), ErrorCode::unsupported);
  EXPECT_EQ(lines_with(text, "a create was refused"), 1u) << text;
  for (const char* part :
       {"rq-of-the-call", "unsupported", "a: not_in_only image_not_mapped", "b: image_not_mapped"})
    EXPECT_EQ(lines_with(text, part), 1u) << part << " in\n" << text;
}

TEST_F(RefusalLogTest, ALimitIsNoWarning) {
  World world("here");
  world.sql("UPDATE tenant SET max_running = 1 RETURNING id");
  world.create();
  // The first is refused after its backend was called, the second before anything is made.
  for (int i = 0; i < 2; ++i) {
    const std::string text = log_of(world, world.order(), ErrorCode::quota_exceeded);
    EXPECT_EQ(lines_with(text, "a create was refused"), 1u) << text;
    EXPECT_EQ(lines_with(text, "rq-of-the-call"), 1u) << text;
    EXPECT_EQ(lines_with(text, "not kept"), 0u) << text;
  }
}

TEST_F(RefusalLogTest, AFloodIsCutShort) {
  World world;
  RefusalLog refusals;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i)
    refusals.record(world.order(), Error(ErrorCode::quota_exceeded, "enough"));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_GE(lines_with(text, "a create was refused"), 10u);
  EXPECT_LE(lines_with(text, "a create was refused"), 100u);
}

}  // namespace
}  // namespace sandgate
