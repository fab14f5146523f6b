#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// Creates of many vendors are accepted first, then asked for until they run, or set up. A step that
// fails must not lose what was accepted.
namespace sandgate::test {
namespace {

// One create at a vendor.
struct Creator {
  explicit Creator(const std::string& vendor_name)
      : line(*std::ranges::find(vendor_lines(), vendor_name, &VendorLine::name)) {
    spec.network.fallback = NetworkDefault::allow;
  }
  Outcome<BackendSandbox> create() { return loop.run(attempt(vendor.provider().create(spec))); }
  void kill(const std::string& backend_id) { loop.run(vendor.provider().kill(backend_id)); }
  // What the vendor accepted although the create failed.
  void find_and_kill() {
    const auto found = loop.run(vendor.provider().find_by_tag(spec.sandbox_id));
    ASSERT_TRUE(found);
    kill(found->backend_id);
  }

  LiveLoop loop;
  const VendorLine line;
  Vendor vendor{line, loop.executor()};
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line.image};
};

void create_while(const std::string& vendor_name, const std::string& question, Json fault) {
  Creator at(vendor_name);
  fault.update({{"match", question}, {"kind", "status"}, {"times", 2}});
  at.vendor.server().fault(fault);
  const auto outcome = at.create();
  const auto* error = std::get_if<Error>(&outcome);
  ASSERT_FALSE(error) << vendor_name << ": " << error->what();
  at.kill(std::get<BackendSandbox>(outcome).backend_id);
}

TEST(AcceptedCreates, OutliveQuestionsThatFail) {
  for (const Json& fault : {Json{{"status", 503}}, Json{{"status", 409}}, Json{{"status", 401}},
                            Json{{"status", 429}, {"headers", {{"Retry-After", "0"}}}}}) {
    create_while("daytona", "GET .*/sandbox/[^/]+$", fault);
    create_while("kubernetes", "GET .*/pods/[^/]+$", fault);
    create_while("northflank", "GET .*/services/[^/]+$", fault);
    create_while("opensandbox", "GET .*/sandboxes/[^/]+$", fault);
    create_while("opensandbox", "GET .*/endpoints/[^/]+$", fault);
    create_while("runloop", "GET .*/devboxes/[^/]+$", fault);
  }
}

// Reads of a vendor may lag behind what it accepted.
TEST(AcceptedCreates, MayBeUnknownForAMoment) {
  create_while("daytona", "GET .*/sandbox/[^/]+$", {{"status", 404}});
  create_while("northflank", "GET .*/services/[^/]+$", {{"status", 404}});
}

// A key may create and not read, or be taken back in between. The mark of refused credentials would
// say that nothing was made.
void refuse_questions(const std::string& vendor_name, const std::string& question, int status) {
  SCOPED_TRACE(vendor_name + " " + std::to_string(status));
  Creator at(vendor_name);
  at.vendor.server().fault(
      {{"match", question}, {"kind", "status"}, {"status", status}, {"times", 1000}});
  const auto outcome = at.create();
  const auto* error = std::get_if<Error>(&outcome);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::unavailable);
  EXPECT_FALSE(are_credentials_refused(*error));
  at.vendor.server().clear_faults();
  at.find_and_kill();
}

TEST(AcceptedCreates, AreOfUnknownOutcomeIfTheKeyMayNotAsk) {
  for (const int status : {401, 403}) {
    refuse_questions("daytona", "GET .*/sandbox/[^/]+$", status);
    refuse_questions("kubernetes", "GET .*/pods/[^/]+$", status);
    refuse_questions("northflank", "GET .*/services/[^/]+$", status);
    refuse_questions("runloop", "GET .*/devboxes/[^/]+$", status);
  }
}

// A step after the create is refused, and perhaps the kill that follows (`kill_status`, or 0).
void refuse_to_set_up(const std::string& vendor_name, const std::string& step, int kill_status,
                      const char* how = "status") {
  SCOPED_TRACE(vendor_name);
  Creator at(vendor_name);
  at.vendor.server().fault({{"match", step}, {"kind", how}, {"status", 422}, {"times", 1}});
  const bool kill_fails = kill_status != 0;
  if (kill_fails)
    at.vendor.server().fault(
        {{"match", at.line.kill}, {"kind", "status"}, {"status", kill_status}, {"times", 1}});
  const auto outcome = at.create();
  const auto* error = std::get_if<Error>(&outcome);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, kill_fails ? ErrorCode::unavailable : ErrorCode::no_capacity);
  EXPECT_FALSE(are_credentials_refused(*error));
  EXPECT_EQ(at.vendor.server().state()["boxes"].size(), kill_fails ? 1u : 0u);
  if (!kill_fails) return;
  at.find_and_kill();
}

TEST(AcceptedCreates, AreEndedOrOfUnknownOutcomeWhenTheyCannotBeSetUp) {
  for (const int kill_status : {0, 429, 401}) {
    refuse_to_set_up("cloudflare", "POST .*/exec$", kill_status);
    refuse_to_set_up("sprites", "POST .*/policy/network$", kill_status);
    // Its answer begins once the session has.
    refuse_to_set_up("agentcore_runtime", "POST .*/commands$", kill_status, "exception");
  }
}

}  // namespace
}  // namespace sandgate::test
