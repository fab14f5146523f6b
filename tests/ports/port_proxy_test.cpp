#include "gateway/ports/port_proxy.hpp"

#include <gtest/gtest.h>

#include "gateway/http/tenant_admission.hpp"
#include "tests/events/events_world.hpp"
#include "tests/support/no_body.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::run;

// Opens nothing, and says who asked.
class ClosedAccess : public SandboxAccess {
 public:
  Task<OpenSandbox> open(const http::Caller& caller, std::string_view, Verb) override {
    asked = caller;
    throw refusal;
    co_return OpenSandbox{};
  }
  Task<Error> translate_failure(TenantId, SandboxId, Error failure) override {
    if (broken) throw std::logic_error("unforeseen");
    if (failure.code == ErrorCode::not_found && ended) {
      failure = Error(ErrorCode::conflict, "the sandbox is stopped");
      failure.details = {{"state", "stopped"}};
    }
    co_return failure;
  }
  Task<bool> is_paused(TenantId, SandboxId) override { co_return false; }
  Task<void> report_gone(SandboxId, std::string) override { co_return; }

  http::Caller asked;
  Error refusal{ErrorCode::conflict, "the sandbox is paused"};
  bool ended = false, broken = false;
};

class NoApi : public http::Responder {
 public:
  Task<http::Response> respond(http::Request&, http::IncomingBody&) override {
    throw std::logic_error("not used");
    co_return http::Response();
  }
  http::Response refuse_method(const http::Request&) override { return {}; }
};

// A proxy before one tenant's sandbox.
class PortProxyTest : public testing::Test {
 protected:
  void open(uint16_t port, Access access, std::string token_hash = "") {
    OpenPort row{.sandbox = box, .tenant = world.tenant, .port = port, .access = access};
    row.token_hash = std::move(token_hash);
    run(ports.open(std::move(row), std::nullopt));
  }
  http::Response ask(http::Request& request) {
    sandgate::test::NoBody body;
    return run(proxy.respond(request, body));
  }
  // The status of what a port of the sandbox answers.
  int ask(const SandboxId& sandbox, const std::string& port, const std::string& query = "") {
    http::Request request;
    request.target = "/p/" + sandbox.value + "/" + port + "/" + query;
    return ask(request).status;
  }

  sandgate::test::EventsWorld world;
  Notifications notifications{world.database.url()};
  TenantDirectory tenants{world.tenants, notifications};
  PortStore ports{*world.database, notifications};
  const SandboxId box = world.add_sandbox(world.tenant);
  ClosedAccess access;
  NoApi api;
  AppPool pool;
  SystemClock clock;
  http::TenantAdmission admission{tenants};
  PortProxy proxy{api, {access, ports, pool, clock, tenants, admission}, {}};
};

TEST_F(PortProxyTest, SaysWhoseTheSandboxIsAndWhetherTheyAreSuspended) {
  open(80, Access::everyone);
  EXPECT_EQ(ask(box, "80"), 409);
  EXPECT_EQ(access.asked.tenant, world.tenant);
  EXPECT_EQ(access.asked.role, http::Role::developer);
  EXPECT_FALSE(access.asked.suspended);
  TenantChange change;
  change.suspended = true;
  run(world.tenants.change(world.tenant, change, Actor{.role = "operator"}));
  EXPECT_EQ(ask(box, "80"), 409);
  EXPECT_TRUE(access.asked.suspended);
}

TEST_F(PortProxyTest, TellsNoVisitorOfTheTenantsMoneyQuotasOrVendors) {
  open(80, Access::everyone);
  for (const ErrorCode code : {ErrorCode::budget_exceeded, ErrorCode::quota_exceeded,
                               ErrorCode::forbidden, ErrorCode::rate_limited}) {
    access.refusal = Error(code, "budget 'b' has 3.21 USD left");
    access.refusal.details = {{"remaining", "3.21"}};
    access.refusal.provider = "vendor";
    http::Request request;
    request.target = "/p/" + box.value + "/80/";
    const http::Response told = ask(request);
    EXPECT_EQ(told.status, 503);
    EXPECT_EQ(told.code, ErrorCode::unavailable);
    const auto& text = std::get<std::string>(told.body);
    for (const char* secret : {"3.21", "budget", "remaining", "vendor"})
      EXPECT_EQ(text.find(secret), std::string::npos) << text;
  }
}

TEST_F(PortProxyTest, NamesNoVendorBesideTheStateOfASandbox) {
  open(80, Access::everyone);
  access.refusal = Error(ErrorCode::not_found, "vendor knows no box 7");
  access.refusal.provider = "vendor";
  http::Request request;
  request.target = "/p/" + box.value + "/80/";
  const http::Response told = ask(request);
  EXPECT_EQ(told.status, 404);
  EXPECT_EQ(std::get<std::string>(told.body).find("vendor"), std::string::npos);
}

TEST_F(PortProxyTest, CountsVisitorsAmongTheConnectionsOfTheSandboxsTenant) {
  open(80, Access::everyone);
  admission.set_connections(4);
  const http::Caller own{.role = http::Role::developer, .tenant = world.tenant};
  auto held = admission.hold_connection(own, http::Requester::caller);
  http::Request request;
  request.target = "/p/" + box.value + "/80/";
  const http::Response refused = ask(request);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code, ErrorCode::rate_limited);
  EXPECT_TRUE(request.over_connection_limit);
  EXPECT_FALSE(access.asked.tenant) << "nobody was let through";
  EXPECT_TRUE(admission.hold_connection(own, http::Requester::caller)) << "its own calls go on";
  held.reset();
  EXPECT_EQ(ask(request).status, 409) << "the sandbox was asked";
}

TEST_F(PortProxyTest, ThePortsOfWhatHasEndedAreClosedToEveryone) {
  open(80, Access::token, "0");
  EXPECT_EQ(ask(box, "80"), 401);
  EXPECT_EQ(ask(box, "80", "?sandgate_token=wrong"), 401);
  access.ended = true;
  EXPECT_EQ(ask(box, "80"), 404);
  EXPECT_EQ(ask(box, "80", "?sandgate_token=wrong"), 404);
  EXPECT_FALSE(access.asked.tenant) << "nobody was let through";
}

TEST_F(PortProxyTest, AnswersAfterAnUnforeseenFailure) {
  open(80, Access::token, "0");
  access.broken = true;
  EXPECT_EQ(ask(box, "80"), 503);
}

TEST_F(PortProxyTest, LeadsToEveryPortWhereAllAreOpen) {
  const SandboxId closed = world.add_sandbox(world.tenant);
  open(kEveryPort, Access::everyone);
  open(81, Access::token, "0");
  EXPECT_EQ(ask(box, "80"), 409) << "let through, and the sandbox is paused";
  EXPECT_EQ(ask(box, "81"), 401) << "what is open by its number is as that says";
  EXPECT_EQ(ask(box, "0"), 404);
  EXPECT_EQ(ask(closed, "80"), 404);
  const auto listed = run(ports.list(box));
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].port, kEveryPort);
  EXPECT_EQ(listed[1].port, 81);
}

}  // namespace
}  // namespace sandgate::ports::test
