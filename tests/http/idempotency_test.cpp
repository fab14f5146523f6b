#include "gateway/http/database_idempotency.hpp"

#include <gtest/gtest.h>

#include "registry/idempotency_effect.hpp"
#include "tests/http/live_server.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using http::BodyMode;
using http::DatabaseIdempotency;
using http::Method;
using http::Permission;
using http::Request;
using http::Response;
using test::LiveServer;
using test::post;
using test::RawClient;
using test::TestDatabase;

std::atomic<int> runs{0};

Task<Response> create(Request& request) {
  const int run = ++runs;
  if (request.query.flag("slow")) co_await sleep_for(std::chrono::milliseconds(300));
  if (request.query.flag("endless")) co_await sleep_for(std::chrono::seconds(60));
  if (request.query.flag("invalid")) throw Error(ErrorCode::invalid, "no");
  if (request.query.flag("busy")) throw Error(ErrorCode::conflict, "not now");
  if (request.query.flag("unavailable")) throw Error(ErrorCode::unavailable, "later");
  if (request.query.flag("outage")) TestDatabase::stop_cluster();
  if (request.query.flag("large")) co_return Response::json(201, std::string(100'000, 'a'));
  co_return Response::json(201, {{"run", run}});
}

// Runs a task on a loop that keeps the claims it makes.
template <class T>
T run_in(asio::io_context& loop, Task<T> task) {
  loop.restart();
  auto ended = asio::co_spawn(loop, std::move(task), asio::use_future);
  while (ended.wait_for(std::chrono::seconds(0)) != std::future_status::ready) loop.run_one();
  return ended.get();
}

class Idempotency : public testing::Test {
 protected:
  static http::Routes table() {
    http::Routes routes;
    routes.add({Method::post, "/v1/things", Permission::use_sandboxes, BodyMode::buffered, create,
                1 << 20, true});
    routes.add({.method = Method::post,
                .pattern = "/v1/secrets",
                .permission = Permission::use_sandboxes,
                .body = BodyMode::buffered,
                .handler = create,
                .idempotent_create = true,
                .secret_answer = true});
    return routes;
  }
  static std::string ask(const std::string& key, const std::string& body = "{}",
                         const std::string& query = "") {
    return post("/v1/things" + query, body, "Idempotency-Key: " + key + "\r\n");
  }
  void SetUp() override { runs = 0; }
  void TearDown() override {
    server.server.stop();
    EXPECT_TRUE(test::eventually([&] { return database->in_flight() == 0; }));
  }

  TestDatabase database;
  Cipher cipher{Secret(std::string(32, 'k'))};
  DatabaseIdempotency store{*database,
                            {.lease = std::chrono::milliseconds(5000),
                             .patience = std::chrono::milliseconds(4000),
                             .settle_timeout = std::chrono::milliseconds(3000),
                             .cipher = &cipher}};
  LiveServer server{table(), {}, nullptr, &store};
};

TEST_F(Idempotency, KeepsAnAnswerWithASecretSealed) {
  RawClient client(server.port());
  const std::string asked = post("/v1/secrets", "{}", "Idempotency-Key: s1\r\n");
  const auto first = client.ask(asked);
  const auto again = client.ask(asked);
  EXPECT_EQ(first.body, again.body);
  EXPECT_EQ(runs, 1);
  const auto kept = [&](const std::string& key) {
    return test::run(database->run([&](pqxx::work& tx) {
      return tx.exec_params1("SELECT body FROM idempotent_call WHERE key = $1", key)[0]
          .as<std::string>();
    }));
  };
  EXPECT_EQ(kept("s1").find("run"), std::string::npos);
  client.ask(ask("k1"));
  EXPECT_NE(kept("k1").find("run"), std::string::npos) << "others are kept as they are";
}

TEST_F(Idempotency, GivesTheFirstAnswerAgain) {
  RawClient client(server.port());
  const auto first = client.ask(ask("k1"));
  const auto again = client.ask(ask("k1"));
  EXPECT_EQ(first.status, 201);
  EXPECT_FALSE(first.headers.find("Idempotent-Replayed"));
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.headers.find("Idempotent-Replayed"), "true");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(client.ask(ask("k1", "{\"a\":1}")).status, 409);
  EXPECT_EQ(client.ask(ask("k2")).status, 201);
  EXPECT_EQ(client.ask(post("/v1/things", "{}")).status, 201);
  EXPECT_EQ(runs, 3);
}

// What one role was answered may be refused to another.
TEST_F(Idempotency, RolesShareNoAnswers) {
  RawClient client(server.port());
  const auto as = [&](const std::string& role) {
    return client.ask("POST /v1/secrets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + role +
                      "\r\nIdempotency-Key: r\r\nContent-Length: 2\r\n\r\n{}");
  };
  const auto first = as("owner");
  const auto other = as("admin");
  EXPECT_EQ(other.status, 201);
  EXPECT_FALSE(other.headers.find("Idempotent-Replayed"));
  EXPECT_NE(other.body, first.body);
  EXPECT_EQ(as("owner").body, first.body);
  EXPECT_EQ(runs, 2);
}

TEST_F(Idempotency, TakesPathsOfAnyLength) {
  Request request;
  request.headers.add("Idempotency-Key", "k");
  std::set<std::string> operations;
  for (const std::string& id :
       {std::string("short"), std::string(8000, 'a'), std::string(7999, 'a') + "b"}) {
    request.path = "/v1/sandboxes/" + id + "/fork";
    const auto call = idempotent_call(request);
    EXPECT_LT(call->operation.size(), 300u) << "an index has room for it";
    operations.insert(call->operation);
  }
  EXPECT_EQ(operations.size(), 3u);
}

TEST_F(Idempotency, RefusesMalformedKeys) {
  RawClient client(server.port());
  for (const std::string& key : {std::string(), std::string(256, 'a'), std::string("a b")}) {
    const auto reply = client.ask(ask(key));
    EXPECT_EQ(reply.status, 400) << key;
    EXPECT_EQ(Json::parse(reply.body)["fields"][0]["path"], "/Idempotency-Key");
  }
  EXPECT_EQ(client.ask(ask(std::string(255, '~'))).status, 201);
}

TEST_F(Idempotency, TwinsWaitForTheFirst) {
  std::vector<std::thread> twins;
  std::mutex mutex;
  std::set<std::string> bodies;
  for (int i = 0; i < 8; ++i)
    twins.emplace_back([&] {
      RawClient client(server.port());
      const auto reply = client.ask(ask("twin", "{}", "?slow=true"));
      const std::lock_guard lock(mutex);
      bodies.insert(reply.body);
    });
  for (auto& twin : twins) twin.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(bodies.size(), 1u);
}

TEST_F(Idempotency, KeepsRefusalsButNotOutages) {
  RawClient client(server.port());
  EXPECT_EQ(client.ask(ask("i", "{}", "?invalid=true")).status, 400);
  EXPECT_EQ(client.ask(ask("i", "{}", "?invalid=true")).headers.find("Idempotent-Replayed"),
            "true");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(client.ask(ask("u", "{}", "?unavailable=true")).status, 503);
  EXPECT_EQ(client.ask(ask("u", "{}", "?unavailable=true")).status, 503);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(client.ask(ask("b", "{}", "?busy=true")).status, 409);
  EXPECT_EQ(client.ask(ask("b", "{}", "?busy=true")).status, 409);
  EXPECT_EQ(runs, 5) << "a conflict may have ended";
}

struct IdempotencyOutage : test::OwnCluster, Idempotency {};

// The client would take what it is told for the answer that it hears again.
TEST_F(IdempotencyOutage, AnAnswerWaitsUntilTheDatabaseIsBack) {
  RawClient client(server.port());
  client.send(ask("o", "{}", "?outage=true"));
  ASSERT_TRUE(test::eventually([] { return runs == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  TestDatabase::start_cluster();
  const auto first = client.receive();
  EXPECT_EQ(first.status, 201);
  const auto again = client.ask(ask("o", "{}", "?outage=true"));
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.headers.find("Idempotent-Replayed"), "true");
  EXPECT_EQ(runs, 1);
}

// The work is done, and others than a retry may see it.
TEST_F(IdempotencyOutage, AnAnswerDoesNotWaitForLong) {
  RawClient client(server.port());
  client.send(ask("o", "{}", "?outage=true"));
  EXPECT_EQ(client.receive().status, 201);
  TestDatabase::start_cluster();
}

TEST_F(Idempotency, SaysSoWhenAnAnswerWasTooLargeToKeep) {
  RawClient client(server.port());
  EXPECT_EQ(client.ask(ask("l", "{}", "?large=true")).status, 201);
  EXPECT_EQ(client.ask(ask("l", "{}", "?large=true")).status, 409);
  EXPECT_EQ(runs, 1);
}

// The next run is told of the program or the sandbox instead of the answer.
TEST_F(Idempotency, WhatWasMadeIsToldWhenItsAnswerWasTooLargeToKeep) {
  const http::IdempotentCall call{"tenant", "POST /x", "large", "hash"};
  asio::io_context loop;
  auto first = run_in(loop, store.start(call));
  ASSERT_TRUE(first.claim);
  test::run(database->run([&](pqxx::work& tx) { mark_effect(tx, first.claim->id(), "pr1"); }));
  run_in(loop, first.claim->settle({200, "text/plain", std::string(100'000, 'a')}));
  first.claim.reset();
  auto second = run_in(loop, store.start(call));
  ASSERT_TRUE(second.claim);
  EXPECT_EQ(second.earlier, "pr1");
  run_in(loop, second.claim->settle({200, "text/plain", "small"}));
  second.claim.reset();
  EXPECT_EQ(run_in(loop, store.start(call)).answer.body, "small");
}

TEST_F(Idempotency, ARunThatWasCancelledMayRunAgain) {
  RawClient leaver(server.port());
  leaver.send(ask("c", "{}", "?endless=true"));
  ASSERT_TRUE(test::eventually([] { return runs == 1; }));
  leaver.close();
  RawClient client(server.port());
  client.send(ask("c", "{}", "?endless=true"));
  EXPECT_TRUE(test::eventually([] { return runs == 2; }));
}

TEST_F(Idempotency, ALongRunKeepsItsLeaseAndACrashedOneLosesIt) {
  DatabaseIdempotency brief(*database, {.lease = std::chrono::milliseconds(1500),
                                        .patience = std::chrono::milliseconds(20'000)});
  asio::io_context loop;
  const http::IdempotentCall call{"tenant", "POST /x", "key", "hash"};
  std::unique_ptr<http::IdempotencyStore::Claim> first, second;
  const auto claim = [&](std::unique_ptr<http::IdempotencyStore::Claim>& into) {
    return [&]() -> Task<void> {
      auto started = co_await brief.start(call);
      into = std::move(started.claim);
    };
  };
  asio::co_spawn(loop, claim(first), asio::detached);
  while (!first) loop.run_one();
  asio::co_spawn(loop, claim(second), asio::detached);
  loop.run_for(std::chrono::milliseconds(3200));  // two leases, with heartbeats
  EXPECT_FALSE(second);
  // A claim that is dropped neither settles nor releases: as after a crash.
  first.reset();
  loop.run_for(std::chrono::milliseconds(3000));
  EXPECT_TRUE(second);
}

// Of two runs whose leases overlap in time, only the later may work.
TEST_F(Idempotency, WhatACrashedRunMadeIsToldToTheNextAndNoLongerItsOwn) {
  DatabaseIdempotency brief(*database, {.lease = std::chrono::milliseconds(300),
                                        .patience = std::chrono::milliseconds(20'000)});
  const http::IdempotentCall call{"tenant", "POST /x", "made", "hash"};
  const auto mark = [&](const std::string& claim, const std::string& made) {
    test::run(database->run([&](pqxx::work& tx) { mark_effect(tx, claim, made); }));
  };
  asio::io_context loop;
  auto first = run_in(loop, brief.start(call));
  const std::string crashed = first.claim->id();
  EXPECT_EQ(first.earlier, "");
  mark(crashed, "sb1");
  first.claim.reset();
  auto second = run_in(loop, brief.start(call));
  ASSERT_TRUE(second.claim);
  EXPECT_EQ(second.earlier, "sb1");
  EXPECT_THROW(mark(crashed, "sb2"), Error);
  mark(second.claim->id(), "sb3");
  second.claim.reset();
  auto third = run_in(loop, brief.start(call));
  EXPECT_EQ(third.earlier, "sb3");
  test::run(database->run([&](pqxx::work& tx) { clear_effect(tx, third.claim->id()); }));
  third.claim.reset();
  EXPECT_EQ(run_in(loop, brief.start(call)).earlier, "");
}

TEST_F(Idempotency, GivesUpOnATwinThatDoesNotEnd) {
  RawClient first(server.port()), second(server.port());
  first.send(ask("e", "{}", "?endless=true"));
  ASSERT_TRUE(test::eventually([] { return runs == 1; }));
  const auto reply = second.ask(ask("e", "{}", "?endless=true"));
  EXPECT_EQ(reply.status, 409);
  EXPECT_TRUE(reply.headers.find("Retry-After"));
  EXPECT_EQ(runs, 1);
}

TEST_F(Idempotency, ForgetsOldAnswers) {
  RawClient client(server.port());
  EXPECT_EQ(client.ask(ask("old")).status, 201);
  EXPECT_EQ(test::run(store.purge()), 0u);
  test::run(database->run([](pqxx::work& tx) {
    tx.exec("UPDATE idempotent_call SET created_at = now() - interval '26 hours'");
  }));
  EXPECT_EQ(test::run(store.purge()), 1u);
  EXPECT_FALSE(client.ask(ask("old")).headers.find("Idempotent-Replayed"));
}

// Of a call that was carried out at last after its first run had died.
TEST_F(Idempotency, AnAnswerIsAsOldAsItWasGiven) {
  asio::io_context loop;
  const http::IdempotentCall call{"tenant", "POST /x", "late", "hash"};
  auto started = run_in(loop, store.start(call));
  test::run(database->run([](pqxx::work& tx) {
    tx.exec("UPDATE idempotent_call SET created_at = now() - interval '26 hours'");
  }));
  run_in(loop, started.claim->settle({201, "application/json", "{}"}));
  EXPECT_EQ(test::run(store.purge()), 0u);
  const auto again = run_in(loop, store.start(call));
  EXPECT_FALSE(again.claim);
  EXPECT_EQ(again.answer.status, 201);
  // A thread of the database may still be waking the loop.
  EXPECT_TRUE(test::eventually([&] { return database->in_flight() == 0; }));
}

}  // namespace
}  // namespace sandgate
