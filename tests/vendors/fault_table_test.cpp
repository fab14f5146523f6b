#include <gtest/gtest.h>

#include <regex>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// What goes wrong at a vendor becomes the code that says what to do next, nothing stays behind
// that cannot be found again, and nothing is created twice.
namespace sandgate::test {
namespace {

class VendorFaults : public testing::TestWithParam<VendorLine> {
 protected:
  void SetUp() override { vendor_ = std::make_unique<Vendor>(GetParam(), loop_.executor()); }

  Outcome<BackendSandbox> create(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    CreateSpec spec;
    spec.sandbox_id = tag_ = SandboxId::make().value;
    spec.installation = "0123456789abcdef";
    spec.image = GetParam().image;
    spec.network.fallback = NetworkDefault::allow;
    return loop_.run(attempt_within(limit, provider().create(std::move(spec))));
  }
  Error refused(const Json& fault, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    switch_on(GetParam().create, fault);
    auto outcome = create(limit);
    vendor_->server().clear_faults();
    if (const auto* error = std::get_if<Error>(&outcome)) return *error;
    return Error(ErrorCode::internal, "the create succeeded");
  }
  void switch_on(const std::string& match, Json fault) {
    fault["match"] = match;
    vendor_->server().fault(fault);
  }
  template <class T>
  std::optional<ErrorCode> code_of(Task<T> task) {
    const auto outcome = loop_.run(attempt(std::move(task)));
    const auto* error = std::get_if<Error>(&outcome);
    return error ? std::optional(error->code) : std::nullopt;
  }
  // How often the vendor was asked to create.
  int asked_to_create() {
    int count = 0;
    const std::regex pattern(GetParam().create);
    const Json state = vendor_->server().state();
    for (const auto& asked : state["asked"])
      count += std::regex_search(asked.get<std::string>(), pattern);
    return count;
  }
  Provider& provider() { return vendor_->provider(); }

  LiveLoop loop_;
  std::unique_ptr<Vendor> vendor_;
  std::string tag_;
};

Json status(int number) { return {{"kind", "status"}, {"status", number}}; }

TEST_P(VendorFaults, ARefusedCreateSaysWhatToDoNext) {
  const Error key = refused(status(401));
  EXPECT_EQ(key.code, ErrorCode::unavailable);
  EXPECT_EQ(key.details["credentials"], "refused");
  EXPECT_EQ(key.provider, GetParam().name);
  EXPECT_EQ(refused(status(403)).code, GetParam().forbidden);
  EXPECT_EQ(refused(status(400)).code, ErrorCode::no_capacity);
  EXPECT_EQ(refused(status(402)).code, ErrorCode::no_capacity);
  EXPECT_EQ(refused(status(404)).code, ErrorCode::no_capacity);
  EXPECT_EQ(refused(status(429)).code, ErrorCode::no_capacity);
  Json wait = status(429);
  wait["headers"] = {{"Retry-After", "7"}};
  const Error limited = refused(wait);
  EXPECT_EQ(limited.code, ErrorCode::rate_limited);
  EXPECT_EQ(limited.retry_after, std::chrono::seconds(7));
  EXPECT_EQ(refused(status(500)).code, ErrorCode::unavailable);
  EXPECT_EQ(refused(status(503)).code, ErrorCode::unavailable);
  EXPECT_EQ(std::string(refused(status(500)).what()).find("switched on"), std::string::npos);
  EXPECT_EQ(vendor_->server().state()["created"], 0);
}

TEST_P(VendorFaults, ANameThatIsTakenIsNoSandboxOfOurs) {
  EXPECT_EQ(refused(status(409)).code, ErrorCode::no_capacity);
  EXPECT_EQ(vendor_->server().state()["created"], 0);
}

TEST_P(VendorFaults, AConnectionThatFailsBeforeTheCreateLeavesNothing) {
  EXPECT_EQ(refused({{"kind", "reset"}}).code, ErrorCode::unavailable);
  EXPECT_FALSE(loop_.run(provider().find_by_tag(tag_)));
  EXPECT_EQ(vendor_->server().state()["created"], 0);
}

TEST_P(VendorFaults, AnEndlessCreateEndsWithItsLimit) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(refused({{"kind", "hang"}}, std::chrono::milliseconds(300)).code, ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(loop_.run(provider().find_by_tag(tag_)));
}

// The outcome is unknown to the caller; the tag tells it, and nothing was created twice.
TEST_P(VendorFaults, ALostAnswerIsFoundByItsTag) {
  for (const char* kind : {"lost_reply", "half_body"}) {
    const int before = asked_to_create();
    switch_on(GetParam().create, {{"kind", kind}, {"times", 1}});
    const auto outcome = create();
    vendor_->server().clear_faults();
    const auto* error = std::get_if<Error>(&outcome);
    ASSERT_TRUE(error) << kind;
    EXPECT_EQ(error->code, ErrorCode::unavailable) << kind;
    EXPECT_EQ(asked_to_create(), before + 1) << kind;
    const auto found = loop_.run(provider().find_by_tag(tag_));
    const bool may_be_undone = GetParam().undoes_create && std::string_view(kind) == "half_body";
    EXPECT_TRUE(found || may_be_undone) << kind;
    if (found) {
      EXPECT_EQ(found->sandbox_id, tag_);
      loop_.run(provider().kill(found->backend_id));
    }
    EXPECT_EQ(vendor_->server().state()["boxes"], Json::array()) << kind;
  }
  EXPECT_EQ(vendor_->server().state()["created"], 2);
}

TEST_P(VendorFaults, ASandboxTellsWhoseItIs) {
  const auto box = std::get<BackendSandbox>(create());
  const std::string whose = GetParam().labels ? "0123456789abcdef" : "";
  const auto found = loop_.run(provider().find(box.backend_id));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->installation, whose);
  const auto listed = loop_.run(provider().list());
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].sandbox_id, tag_);
  EXPECT_EQ(listed[0].installation, whose);
  // What it costs is booked from its start if no row knows it.
  if (GetParam().labels) {
    EXPECT_TRUE(found->created_at || listed[0].created_at);
  }
  loop_.run(provider().kill(box.backend_id));
}

TEST_P(VendorFaults, ASlowAnswerIsAnAnswer) {
  switch_on(GetParam().create, {{"kind", "trickle"}});
  const auto outcome = create();
  ASSERT_TRUE(std::holds_alternative<BackendSandbox>(outcome)) << std::get<Error>(outcome).what();
  loop_.run(provider().kill(std::get<BackendSandbox>(outcome).backend_id));
  EXPECT_EQ(vendor_->server().state()["boxes"], Json::array());
}

TEST_P(VendorFaults, QuestionsFailByName) {
  const auto box = std::get<BackendSandbox>(create());
  for (const Json& fault :
       {status(500), status(503), Json{{"kind", "reset"}}, Json{{"kind", "half_body"}}}) {
    switch_on(GetParam().question, fault);
    EXPECT_EQ(code_of(provider().find(box.backend_id)), ErrorCode::unavailable) << fault;
    EXPECT_EQ(code_of(provider().list()), ErrorCode::unavailable) << fault;
    EXPECT_EQ(code_of(provider().find_by_tag(tag_)), ErrorCode::unavailable) << fault;
    vendor_->server().clear_faults();
  }
  switch_on(GetParam().question, status(404));
  EXPECT_FALSE(loop_.run(provider().find(box.backend_id)));
  vendor_->server().clear_faults();
  EXPECT_TRUE(loop_.run(provider().find(box.backend_id)));
  loop_.run(provider().kill(box.backend_id));
}

TEST_P(VendorFaults, AKillThatFailsIsNotTakenForDone) {
  const auto box = std::get<BackendSandbox>(create());
  for (const Json& fault : {status(401), status(500), Json{{"kind", "reset"}}}) {
    switch_on(GetParam().kill, fault);
    EXPECT_EQ(code_of(provider().kill(box.backend_id)), ErrorCode::unavailable) << fault;
    vendor_->server().clear_faults();
  }
  loop_.run(provider().kill(box.backend_id));
  EXPECT_EQ(vendor_->server().state()["boxes"], Json::array());
}

TEST_P(VendorFaults, AnExecThatDoesNotStartSaysSo) {
  const auto box = std::get<BackendSandbox>(create());
  for (const Json& fault : {status(500), status(503), status(401), Json{{"kind", "reset"}}}) {
    switch_on(GetParam().exec, fault);
    Command command{.argv = {"true"}, .process_id = ProcessId::make().value};
    EXPECT_EQ(code_of(provider().exec(box.backend_id, command)), ErrorCode::unavailable) << fault;
    vendor_->server().clear_faults();
  }
  loop_.run(provider().kill(box.backend_id));
}

INSTANTIATE_TEST_SUITE_P(Vendors, VendorFaults, testing::ValuesIn(vendor_lines()),
                         [](const auto& line) { return line.param.name; });

}  // namespace
}  // namespace sandgate::test
