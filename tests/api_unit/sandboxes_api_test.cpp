#include "billing/budgets/budget_store.hpp"
#include "billing/prices/price_rows.hpp"
#include "gateway/api/network.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/ports.hpp"
#include "gateway/api/providers.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/api/snapshots.hpp"
#include "gateway/sandboxes/budget_guard.hpp"
#include "tests/registry/registry_fixture.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::api {
namespace {

using http::Method;
using test::code_of;
using test::run;

// The handlers of sandboxes behind their routes, on backends in memory.
struct SandboxesApiTest : testing::Test {
  SandboxesApiTest() {
    snapshots.add_routes(routes);
    network.add_routes(routes);
    ports.add_routes(routes);
    providers.add_routes(routes);
  }

  Json call(Method method, const std::string& target, const std::string& body,
            const std::string& key = "") {
    const size_t mark = std::min(target.find('?'), target.size());
    auto match = routes.match(method, target.substr(0, mark));
    http::Request request;
    request.method = method;
    request.route = match.route->pattern;
    if (mark < target.size()) request.query = http::Query(target.substr(mark + 1));
    if (!key.empty()) request.headers.add("Idempotency-Key", key);
    request.path = target;
    request.params = std::move(match.params);
    request.headers.add("Content-Type", "application/json");
    request.body = body;
    request.id = "rqtest";
    request.caller = {.role = http::Role::developer,
                      .tenant = world.tenant,
                      .key_id = "ky000000000000000000000000"};
    const auto response = run(match.route->handler(request));
    const auto& text = std::get<std::string>(response.body);
    return text.empty() ? Json() : Json::parse(text);
  }
  // The handlers of a gateway that keeps a journal for outages.
  struct Keeping {
    explicit Keeping(SandboxesApiTest& of)
        : lifecycle(parts(of)), handlers(lifecycle, of.resolver) {}
    Lifecycle::Parts parts(SandboxesApiTest& of) {
      Lifecycle::Parts parts = of.world.replica.parts(of.guard);
      parts.outage = &outage;
      return parts;
    }

    test::TempDirectory directory;
    OutageJournal outage{{.path = directory.path() + "/outage.journal"}};
    Lifecycle lifecycle;
    SandboxHandlers handlers;
  };
  Json fork(const SandboxRecord& box, int count) {
    const std::string body = R"({"count":)" + std::to_string(count) + "}";
    return call(Method::post, "/v1/sandboxes/" + box.id.value + "/fork", body).at("items");
  }
  // A sandbox under the profile of that owner.
  SandboxRecord create(const std::optional<TenantId>& owner, const std::string& yaml) {
    const Profile profile = parse_profile_yaml(yaml);
    run(profiles.publish(owner, profile, "stable", test::kActor));
    const auto head = run(profiles.find(owner, profile.name)).value();
    CreateOrder order = world.order();
    order.profile = profile.name;
    order.profile_version = static_cast<int>(head.latest);
    order.profile_id = head.id;
    order.key = "ky000000000000000000000000";
    order.request.profile.network = profile.network;
    return run(lifecycle.create(std::move(order)));
  }

  test::World world;
  Budgets budgets{world.replica.prices};
  BudgetGuard guard{budgets, world.replica.clock};
  Lifecycle lifecycle{world.replica.parts(guard)};
  Notifications notifications{world.database.url()};
  ProfileStore profiles{*world.database};
  ProfileResolver resolver{profiles, notifications};
  SnapshotHandlers snapshots{lifecycle, resolver};
  NetworkHandlers network{lifecycle, resolver};
  CachedAccess access{lifecycle, world.replica.activity};
  sandgate::ports::PortStore port_rows{*world.database, notifications};
  PortHandlers ports{access, lifecycle, port_rows, {}};
  ProviderHandlers providers{lifecycle, resolver};
  // A vCPU costs 0.001 a second everywhere.
  void publish_prices() {
    const PriceVersion list = price_version_from(
        parse_json(R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
          "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0.001"}]})"),
        "list");
    run(world.database->run([&](pqxx::work& tx) { insert_price_version(tx, list); }));
    run(world.replica.prices.load());
  }
  http::Routes routes;
};

constexpr char kClosed[] = "name: data\nresources: {vcpu: 1}\nnetwork: {default: deny}\n";

TEST_F(SandboxesApiTest, ForksCountAgainstTheBudgetOfTheirKey) {
  publish_prices();
  const SandboxRecord box = create(std::nullopt, kClosed);
  const std::string hour = world.sql("SELECT charge_per_hour FROM sandbox");
  BudgetStore rows{world.replica.database, budgets};
  run(rows.put(budget_from(
      parse_json(
          R"({"amount":"0.001","currency":"USD","window":"total","applies_to":{"key":"ky000000000000000000000000"}})"),
      world.tenant, "mine")));
  for (const Json& one : fork(box, 2)) EXPECT_EQ(one.at("error").at("code"), "budget_exceeded");
  EXPECT_EQ(world.a->alive(), 1u) << hour;
}

TEST_F(SandboxesApiTest, AForkOfWhichNothingCameIsRefusedAsACreateIs) {
  const SandboxRecord box = create(std::nullopt, kClosed);
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::no_capacity}) {
    world.a->fail_creates(test::FakeProvider::Fault::error, code);
    EXPECT_EQ(code_of([&] { fork(box, 3); }), code);
  }
  world.a->fail_creates(test::FakeProvider::Fault::none);
  world.sql("UPDATE tenant SET max_running = 1 RETURNING id");
  const Json refused = fork(box, 2);
  for (const Json& one : refused) EXPECT_EQ(one.at("error").at("code"), "quota_exceeded");
}

// Its first answer said so as well, if anybody heard it.
TEST_F(SandboxesApiTest, ARetryOfAForkTellsWhichCopiesThereAre) {
  const SandboxRecord box = create(std::nullopt, kClosed), copy = create(std::nullopt, kClosed);
  const auto again = [&](const std::string& made) {
    http::Request request;
    request.headers.add("Content-Type", "application/json");
    request.body = R"({"count":3})";
    request.params = {{"id", box.id.value}};
    request.caller = {.role = http::Role::developer, .tenant = world.tenant};
    request.earlier = SnapshotId::make().value + made;
    const auto response = run(snapshots.fork(request));
    EXPECT_EQ(response.status, 201);
    return Json::parse(std::get<std::string>(response.body)).at("items");
  };
  const Json part = again(" 1:" + copy.id.value);
  EXPECT_EQ(world.a->alive(), 2u);
  EXPECT_EQ(part.at(0).at("error").at("code"), "unavailable");
  EXPECT_EQ(part.at(1).at("sandbox").at("id"), copy.id.value);
  EXPECT_EQ(part.at(2).at("error").at("code"), "unavailable");
  EXPECT_EQ(again("").at(0).at("sandbox").at("state"), "running") << "none was made";
  EXPECT_EQ(world.a->alive(), 5u);
}

TEST_F(SandboxesApiTest, ARetryIsNotAnsweredWithWhatIsBeingEnded) {
  Keeping keeping(*this);
  const auto again = [&](const SandboxRecord& earlier) {
    http::Request request;
    request.headers.add("Content-Type", "application/json");
    request.body = R"({"profile":"data"})";
    request.caller = {.role = http::Role::developer, .tenant = world.tenant};
    request.earlier = earlier.id.value;
    const auto response = run(keeping.handlers.create(request));
    const Json made = Json::parse(std::get<std::string>(response.body));
    EXPECT_TRUE(made["id"] == earlier.id.value || made["state"] == "running");
    return made["id"].get<std::string>();
  };
  const SandboxRecord running = create(std::nullopt, kClosed);
  EXPECT_EQ(again(running), running.id.value);
  run(lifecycle.kill(world.tenant, running.id));
  EXPECT_EQ(again(running), running.id.value) << "whoever ended it knew of it";

  const SandboxRecord lost = create(std::nullopt, kClosed);
  world.a->lose(lost.backend_id);
  EXPECT_NE(again(lost), lost.id.value);
  EXPECT_EQ(world.row(lost.id).state, SandboxState::failed);
  EXPECT_NE(again(lost), lost.id.value);

  const SandboxRecord disowned = create(std::nullopt, kClosed);
  EndIntention end{.tenant = world.tenant,
                   .sandbox = disowned.id,
                   .reason = "failed",
                   .failure = SandboxFailure{"unavailable", "no answer"}};
  run(keeping.outage.append(end));
  EXPECT_NE(again(disowned), disowned.id.value) << "the row says that it runs";
  run(keeping.outage.replay(keeping.lifecycle));
  EXPECT_EQ(world.row(disowned.id).state, SandboxState::stopping);
  EXPECT_NE(again(disowned), disowned.id.value);
}

TEST_F(SandboxesApiTest, AListIsOfTheStatesThatItShows) {
  Keeping keeping(*this);
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) made.push_back(create(std::nullopt, kClosed).id.value);
  run(lifecycle.kill(world.tenant, SandboxId{made[4]}));
  // The last one's end was written meanwhile by another gateway.
  for (const int i : {1, 3, 4})
    run(keeping.outage.append({world.tenant, SandboxId{made[i]}, SystemClock().now(), "killed"}));
  const auto listed = [&](const std::string& state) {
    std::vector<std::string> ids;
    for (std::string cursor;;) {
      http::Request request;
      request.caller = {.role = http::Role::developer, .tenant = world.tenant};
      request.query = http::Query("state=" + state + "&limit=1" + cursor);
      const auto response = run(keeping.handlers.list(request));
      const Json page = Json::parse(std::get<std::string>(response.body));
      for (const Json& item : page["items"]) {
        EXPECT_EQ(item["state"], state);
        EXPECT_EQ(item.value("ended_reason", "none"), state == "running" ? "none" : "killed");
        ids.push_back(item["id"].get<std::string>());
      }
      if (page["next_cursor"].is_null()) return ids;
      cursor = "&cursor=" + page["next_cursor"].get<std::string>();
    }
  };
  EXPECT_EQ(listed("running"), std::vector({made[2], made[0]}));
  EXPECT_EQ(listed("stopping"), std::vector({made[3], made[1]}));
  EXPECT_EQ(listed("stopped"), std::vector({made[4]}));
  EXPECT_TRUE(keeping.lifecycle.ending(TenantId::make()).empty());
}

TEST_F(SandboxesApiTest, ASandboxKeepsTheProfileItWasMadeWith) {
  const SandboxRecord box = create(std::nullopt, kClosed);
  const std::string path = "/v1/sandboxes/" + box.id.value + "/network";
  const auto open_up = [&] { call(Method::put, path, R"({"default":"allow"})"); };
  EXPECT_EQ(code_of(open_up), ErrorCode::invalid);
  // The tenant's own of the same name goes before the operator's, and also has a version 1.
  run(profiles.publish(world.tenant, parse_profile_yaml("name: data\nnetwork: {default: allow}\n"),
                       "stable", test::kActor));
  EXPECT_EQ(code_of(open_up), ErrorCode::invalid);
  fork(box, 1);
  EXPECT_EQ(world.a->last_spec().network.fallback, NetworkDefault::deny);
  run(profiles.archive(std::nullopt, "data", test::kActor));
  EXPECT_EQ(code_of(open_up), ErrorCode::invalid) << "archived, it still says what it said";
  EXPECT_TRUE(fork(box, 1)[0].contains("sandbox"));
}

TEST_F(SandboxesApiTest, CopiesDoNotGetANetworkThatWasRefused) {
  const SandboxRecord box =
      create(std::nullopt, "name: open\nresources: {vcpu: 1}\nnetwork: {default: allow}\n");
  const std::string path = "/v1/sandboxes/" + box.id.value + "/network";
  EXPECT_EQ(code_of([&] { call(Method::put, path, R"({"default":"deny"})"); }),
            ErrorCode::unsupported);
  world.a->fail_networks(ErrorCode::no_capacity);  // its disk is full
  EXPECT_EQ(code_of([&] { call(Method::put, path, R"({"default":"deny"})"); }),
            ErrorCode::unavailable);
  EXPECT_EQ(world.sql("SELECT wishes ? 'network' FROM sandbox"), "f");
}

TEST_F(SandboxesApiTest, PricesAreForWhatABackendGives) {
  publish_prices();
  world.a->give({.milli_vcpu = 8000});
  const Json one = call(Method::get, "/v1/providers", "").at("items").at(0);
  EXPECT_EQ(one.at("deployment"), "a");
  EXPECT_EQ(one.at("price_is_for").at("vcpu"), 8);
  EXPECT_EQ(one.at("price_per_hour"), "28.8");
  EXPECT_EQ(one.at("currency"), "USD");
}

TEST(TurnsTest, AreOneCallersAtATime) {
  using std::chrono::milliseconds;
  KeyedMutex mutex;
  auto first = mutex.try_lock("a");
  ASSERT_TRUE(first);
  EXPECT_FALSE(mutex.try_lock("a"));
  EXPECT_TRUE(mutex.try_lock("b"));
  EXPECT_EQ(code_of([&] { run(mutex.lock("a", milliseconds(50))); }), ErrorCode::conflict);
  first.reset();
  EXPECT_TRUE(run(mutex.lock("a", milliseconds(0))));
  EXPECT_TRUE(mutex.try_lock("a"));
}

TEST_F(SandboxesApiTest, ATokenDoesNotOutliveTheClosingOfItsPort) {
  Descriptor descriptor = world.a->descriptor();
  descriptor.verbs[Verb::ports] = Keeps::disk;
  world.a->offer(std::move(descriptor));
  world.replica.deployments.refresh();
  const std::string path = "/v1/sandboxes/" + world.create().id.value + "/ports";
  const auto open = [&] {
    return call(Method::post, path, R"({"port":8080})", "key-1").at("token").get<std::string>();
  };
  const std::string first = open();
  call(Method::delete_, path + "/8080", "");
  EXPECT_NE(open(), first);
}

TEST_F(SandboxesApiTest, ACursorOfNoTimeIsInvalid) {
  http::Request request;
  request.route = "/v1/snapshots";
  const std::string cursor = to_cursor(read_page(request, 2).list, {"3100000000000000000", "sn"});
  const auto list = [&] { call(Method::get, "/v1/snapshots?cursor=" + cursor, ""); };
  EXPECT_EQ(code_of(list), ErrorCode::invalid);
}

}  // namespace
}  // namespace sandgate::api
