#include "gateway/ports/port_gate.hpp"

#include <gtest/gtest.h>

#include "gateway/http/tenant_admission.hpp"
#include "tests/events/events_world.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::run;

// Opens nothing, and says who asked.
class ClosedAccess : public SandboxAccess {
 public:
  Task<OpenSandbox> open(const http::Caller& caller, std::string_view, Verb) override {
    asked = caller;
    throw Error(ErrorCode::conflict, "the sandbox is paused");
    co_return OpenSandbox{};
  }
  Task<Error> judge(TenantId, SandboxId, Error failure) override {
    if (failure.code == ErrorCode::not_found && ended) {
      failure = Error(ErrorCode::conflict, "the sandbox is stopped");
      failure.details = {{"state", "stopped"}};
    }
    co_return failure;
  }
  Task<void> report_gone(SandboxId, std::string) override { co_return; }

  http::Caller asked;
  bool ended = false;
};

class NoApi : public http::Responder {
 public:
  Task<http::Response> respond(http::Request&, http::IncomingBody&) override {
    throw std::logic_error("not used");
    co_return http::Response();
  }
  http::Response refuse_method(const http::Request&) override { return {}; }
};

class NoBody : public http::IncomingBody {
 public:
  bool ended() const override { return true; }
  std::optional<uint64_t> length() const override { return 0; }
  bool broken() const override { return false; }
  Task<void> invite() override { co_return; }
  Task<size_t> read(std::span<char>) override { co_return 0; }
};

TEST(PortGate, SaysWhoseTheSandboxIsAndWhetherTheyAreSuspended) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  TenantDirectory tenants(world.tenants, notifications);
  PortStore ports(*world.database, notifications);
  const SandboxId box = world.add_sandbox(world.tenant);
  run(ports.open({.sandbox = box, .tenant = world.tenant, .port = 80, .access = Access::everyone},
                 std::nullopt, {}));
  ClosedAccess access;
  NoApi api;
  AppPool pool;
  SystemClock clock;
  http::TenantAdmission admission(tenants);
  PortGate gate(api, access, ports, pool, clock, tenants, admission, {});
  const auto ask = [&] {
    http::Request request;
    request.target = "/p/" + box.value + "/80/";
    NoBody body;
    return run(gate.respond(request, body)).status;
  };
  EXPECT_EQ(ask(), 409);
  EXPECT_EQ(access.asked.tenant, world.tenant);
  EXPECT_EQ(access.asked.role, http::Role::developer);
  EXPECT_FALSE(access.asked.suspended);
  TenantChange change;
  change.suspended = true;
  run(world.tenants.change(world.tenant, change, Actor{.role = "operator"}));
  EXPECT_EQ(ask(), 409);
  EXPECT_TRUE(access.asked.suspended);
}

TEST(PortGate, CountsVisitorsAmongTheConnectionsOfTheSandboxsTenant) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  TenantDirectory tenants(world.tenants, notifications);
  PortStore ports(*world.database, notifications);
  const SandboxId box = world.add_sandbox(world.tenant);
  run(ports.open({.sandbox = box, .tenant = world.tenant, .port = 80, .access = Access::everyone},
                 std::nullopt, {}));
  ClosedAccess access;
  NoApi api;
  AppPool pool;
  SystemClock clock;
  http::TenantAdmission admission(tenants, {.connections = 4});
  PortGate gate(api, access, ports, pool, clock, tenants, admission, {});
  const http::Caller own{.role = http::Role::developer, .tenant = world.tenant};
  auto held = admission.hold_connection(own, http::Comer::caller);
  http::Request request;
  request.target = "/p/" + box.value + "/80/";
  NoBody body;
  const http::Response refused = run(gate.respond(request, body));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code, ErrorCode::rate_limited);
  EXPECT_TRUE(request.turned_away);
  EXPECT_FALSE(access.asked.tenant) << "nobody was let through";
  EXPECT_TRUE(admission.hold_connection(own, http::Comer::caller)) << "its own calls go on";
  held.reset();
  EXPECT_EQ(run(gate.respond(request, body)).status, 409) << "the sandbox was asked";
}

TEST(PortGate, ThePortsOfWhatHasEndedAreClosedToEveryone) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  TenantDirectory tenants(world.tenants, notifications);
  PortStore ports(*world.database, notifications);
  const SandboxId box = world.add_sandbox(world.tenant);
  OpenPort row{.sandbox = box, .tenant = world.tenant, .port = 80, .access = Access::token};
  row.token_hash = "0";
  run(ports.open(row, std::nullopt, {}));
  ClosedAccess access;
  NoApi api;
  AppPool pool;
  SystemClock clock;
  http::TenantAdmission admission(tenants);
  PortGate gate(api, access, ports, pool, clock, tenants, admission, {});
  const auto ask = [&](const std::string& query) {
    http::Request request;
    request.target = "/p/" + box.value + "/80/" + query;
    NoBody body;
    return run(gate.respond(request, body)).status;
  };
  EXPECT_EQ(ask(""), 401);
  EXPECT_EQ(ask("?sandgate_token=wrong"), 401);
  access.ended = true;
  EXPECT_EQ(ask(""), 404);
  EXPECT_EQ(ask("?sandgate_token=wrong"), 404);
  EXPECT_FALSE(access.asked.tenant) << "nobody was let through";
}

TEST(PortGate, LeadsToEveryPortWhereAllAreOpen) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  TenantDirectory tenants(world.tenants, notifications);
  PortStore ports(*world.database, notifications);
  const SandboxId box = world.add_sandbox(world.tenant), closed = world.add_sandbox(world.tenant);
  const auto open = [&](uint16_t port, Access access, std::string hash) {
    OpenPort row{.sandbox = box, .tenant = world.tenant, .port = port, .access = access};
    row.token_hash = std::move(hash);
    run(ports.open(row, std::nullopt, {}));
  };
  open(kEveryPort, Access::everyone, "");
  open(81, Access::token, "0");
  ClosedAccess access;
  NoApi api;
  AppPool pool;
  SystemClock clock;
  http::TenantAdmission admission(tenants);
  PortGate gate(api, access, ports, pool, clock, tenants, admission, {});
  const auto ask = [&](const SandboxId& id, const std::string& port) {
    http::Request request;
    request.target = "/p/" + id.value + "/" + port + "/";
    NoBody body;
    return run(gate.respond(request, body)).status;
  };
  EXPECT_EQ(ask(box, "80"), 409) << "let through, and the sandbox is paused";
  EXPECT_EQ(ask(box, "81"), 401) << "what is open by its number is as that says";
  EXPECT_EQ(ask(box, "0"), 404);
  EXPECT_EQ(ask(closed, "80"), 404);
  const auto listed = run(ports.list(box));
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].port, kEveryPort);
  EXPECT_EQ(listed[1].port, 81);
}

TEST(PortStore, ClosesEveryPortAtOnceAndWhatWasClosedBeforeStaysSo) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  PortStore ports(*world.database, notifications);
  const SandboxId box = world.add_sandbox(world.tenant);
  for (const uint16_t port : {kEveryPort, uint16_t{81}, uint16_t{82}})
    run(ports.open(
        {.sandbox = box, .tenant = world.tenant, .port = port, .access = Access::everyone},
        std::nullopt, {}));
  EXPECT_TRUE(run(ports.close(box, 81)));
  EXPECT_TRUE(run(ports.close(box, kEveryPort)));
  EXPECT_FALSE(run(ports.close(box, kEveryPort)));
  const auto listed = run(ports.list(box));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].port, 82);
  EXPECT_FALSE(run(ports.find(box, kEveryPort)));
}

}  // namespace
}  // namespace sandgate::ports::test
