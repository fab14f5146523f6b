#include "gateway/events/webhook_sender.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "gateway/core/webhook_signature.hpp"
#include "gateway/events/webhook_store.hpp"
#include "tests/events/events_world.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

using test::run;

const Actor kSetter{.role = "owner"};

// The way to a receiver: what goes to an address that says "slow" waits while it is.
class SlowWay : public HttpClient {
 public:
  explicit SlowWay(HttpClient& receiver) : receiver_(receiver) {}

  Task<HttpReply> call(HttpCall) override { throw std::logic_error("not used"); }
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override {
    if (call.url.find("slow") != std::string::npos) co_await keep_waiting();
    co_return co_await receiver_.stream(std::move(call));
  }

  std::atomic<bool> slow{false};
  std::atomic<int> most_waiting{0};  // at a time

 private:
  Task<void> keep_waiting() {
    struct Waiting {
      explicit Waiting(SlowWay& at) : at(at) {
        at.most_waiting = std::max(at.most_waiting.load(), ++at.waiting_);
      }
      ~Waiting() { --at.waiting_; }
      SlowWay& at;
    };
    const Waiting waiting(*this);
    while (slow) co_await sleep_for(std::chrono::milliseconds(2));
  }

  HttpClient& receiver_;
  int waiting_ = 0;  // of the one thread that sends
};

struct WebhookSenderTest : testing::Test, test::EventsWorld {
  WebhookSenderTest() {
    put();
    answer(200);
  }
  void put() {
    WebhookDraft draft{.name = "ci",
                       .tenant = tenant,
                       .url = "https://example.com/hook",
                       .secret = Secret("swordfish"),
                       .types = {"*"}};
    run(store.put(draft, kSetter));
  }
  void happen(int count = 1) {
    for (int i = 0; i < count; ++i) tell(tenant, "budget.alert", i);
    run(log.catch_up());
  }
  void answer(int status) { receiver.always({.status = status}); }
  std::vector<std::string> received() {  // the ids of the events that came, in their order
    std::vector<std::string> found;
    for (const HttpCall& call : receiver.calls()) found.push_back(Json::parse(call.body).at("id"));
    return found;
  }
  void all_due() {
    sql("UPDATE webhook_delivery SET next_try_at = now()");
    sql("UPDATE webhook SET rest_until = now()");
  }
  Webhook webhook() { return *run(store.find(tenant, "ci")); }
  std::string state() { return to_json(webhook()).at("state"); }

  Cipher cipher{Secret(std::string(32, 'k'))};
  WebhookStore store{*database, cipher};
  SystemClock clock;
  test::ScriptedClient receiver;
  SlowWay way{receiver};
  WebhookSender sender{*database, cipher, way, clock, {}};
};

TEST_F(WebhookSenderTest, SendsASignedCloudEventOnce) {
  happen();
  EXPECT_EQ(run(sender.step()), 1u);
  EXPECT_EQ(run(sender.step()), 0u);
  ASSERT_EQ(receiver.calls().size(), 1u);
  const HttpCall call = receiver.last();
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.url, "https://example.com/hook");
  EXPECT_FALSE(call.allow_private);
  EXPECT_EQ(find_field(call.headers, "content-type"),
            "application/cloudevents+json; charset=utf-8");
  const std::string signature(find_field(call.headers, "Sandgate-Signature").value());
  const Time at(std::chrono::seconds(std::stoll(signature.substr(2))));
  EXPECT_EQ(signature, webhook_signature(Secret("swordfish"), at, call.body));
  EXPECT_EQ(Json::parse(call.body).at("type"), "budget.alert");
  EXPECT_EQ(webhook().pending, 0);
  EXPECT_TRUE(webhook().last_success_at);
  EXPECT_EQ(state(), "active");
}

TEST_F(WebhookSenderTest, TriesAgainWithTheSameId) {
  for (const int failure : {500, 0, 302, 404}) {
    answer(failure);
    happen();
    run(sender.step());
    EXPECT_EQ(state(), "failing");
    EXPECT_EQ(webhook().pending, 1);
    // Not before its pause is over.
    EXPECT_EQ(run(sender.step()), 0u);
    answer(204);
    all_due();
    EXPECT_EQ(run(sender.step()), 1u);
    EXPECT_EQ(state(), "active");
    EXPECT_EQ(webhook().pending, 0);
    const auto ids = received();
    EXPECT_EQ(ids[ids.size() - 1], ids[ids.size() - 2]);
    EXPECT_EQ(webhook().last_failure->event, ids.back());
  }
  EXPECT_EQ(webhook().last_failure->reason, "the receiver answered 404");
}

TEST_F(WebhookSenderTest, AFailingReceiverGetsOneRequestAtATime) {
  answer(503);
  happen(20);
  EXPECT_EQ(run(sender.step()), 8u);
  all_due();
  EXPECT_EQ(run(sender.step()), 1u);
  EXPECT_EQ(run(sender.step()), 0u);
  answer(200);
  all_due();
  EXPECT_EQ(run(sender.step()), 1u);
  for (int rounds = 0; webhook().pending > 0 && rounds < 10; ++rounds) {
    all_due();
    run(sender.step());
  }
  EXPECT_EQ(webhook().pending, 0);
  const auto ids = received();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 20u);
}

TEST_F(WebhookSenderTest, OneOwnersReceiversDoNotTakeAllPlaces) {
  for (int i = 1; i < 16; ++i)
    run(store.put({.name = "w" + std::to_string(i),
                   .tenant = tenant,
                   .url = "https://example.com/hook",
                   .secret = Secret("swordfish"),
                   .types = {"*"}},
                  kSetter));
  happen(10);
  EXPECT_EQ(run(sender.step()), 32u);
}

// A sender that is killed leaves its lease behind; nothing else tells of it.
TEST_F(WebhookSenderTest, WhatAKilledSenderTookIsSentAfterItsLease) {
  const WebhookSender::Options usual;
  EXPECT_GE(usual.lease, usual.deadline + std::chrono::seconds(5)) << "time to write it down";
  EXPECT_LE(usual.lease, std::chrono::seconds(20)) << "a restart holds events up for so long";
  happen();
  auto take = [&](pqxx::work& tx) { return delivery_rows::take_due(tx, cipher, 10, usual.lease); };
  const auto lost = run(database->run(take));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(run(sender.step()), 0u);
  all_due();
  EXPECT_EQ(run(sender.step()), 1u);
  EXPECT_EQ(received(), std::vector<std::string>{lost[0].event.id});
}

TEST_F(WebhookSenderTest, KilledBetweenSendingAndWritingItSendsTheSameAgain) {
  happen();
  auto take = [this](pqxx::work& tx) {
    return delivery_rows::take_due(tx, cipher, 10, std::chrono::seconds(60));
  };
  const auto sent = run(database->run(take));  // the receiver has it; the row does not know
  all_due();
  answer(500);
  run(sender.step());
  // The first sender was only slow: what it has to say comes too late.
  auto late = [&](pqxx::work& tx) { delivery_rows::set_delivered(tx, sent[0]); };
  run(database->run(late));
  EXPECT_EQ(webhook().pending, 1);
  answer(200);
  all_due();
  run(sender.step());
  EXPECT_EQ(webhook().pending, 0);
  EXPECT_EQ(received().back(), sent[0].event.id);
}

TEST_F(WebhookSenderTest, ReplicasSendEachEventOnce) {
  happen(100);
  std::vector<std::thread> replicas;
  for (int i = 0; i < 3; ++i)
    replicas.emplace_back([this] {
      Database own({.url = database.url(), .connections = 2});
      WebhookSender one(own, cipher, way, clock, {});
      while (run(one.step()) > 0) {
      }
    });
  for (auto& thread : replicas) thread.join();
  const auto ids = received();
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 100u);
  EXPECT_EQ(webhook().pending, 0);
}

TEST_F(WebhookSenderTest, GivesUpAnEventAfterADay) {
  answer(500);
  happen(2);
  sql("UPDATE webhook_delivery SET created_at = now() - interval '25 hours', attempts = 30"
      " WHERE position = (SELECT min(position) FROM webhook_delivery)");
  run(sender.step());
  EXPECT_EQ(state(), "failing");
  EXPECT_EQ(webhook().pending, 1);
}

TEST_F(WebhookSenderTest, ADayWithoutASuccessDisables) {
  answer(0);
  happen(3);
  run(sender.step());
  sql("UPDATE webhook SET failing_since = now() - interval '25 hours'");
  all_due();
  run(sender.step());
  EXPECT_EQ(state(), "disabled");
  EXPECT_EQ(webhook().pending, 0);
  EXPECT_EQ(webhook().last_failure->reason, "the receiver could not be reached");
  happen();
  EXPECT_EQ(webhook().pending, 0);
  put();
  EXPECT_EQ(state(), "active");
  answer(200);
  happen();
  EXPECT_EQ(run(sender.step()), 1u);
}

// A machine that was switched off over the weekend: its receiver may start after it, too.
TEST_F(WebhookSenderTest, ADayInWhichNobodyTriedDoesNotCount) {
  answer(500);
  happen(2);
  for (const bool tried_before : {false, true}) {
    if (tried_before)
      sql("UPDATE webhook SET failing_since = now() - interval '60 hours',"
          " last_failure_at = now() - interval '59 hours'");
    sql("UPDATE webhook_delivery SET created_at = now() - interval '60 hours'");
    all_due();
    run(sender.step());
    EXPECT_EQ(state(), "failing");
    EXPECT_EQ(webhook().pending, 2);
  }
  answer(200);
  for (int rounds = 0; rounds < 2; ++rounds) {
    all_due();
    run(sender.step());
  }
  EXPECT_EQ(webhook().pending, 0);
}

// It has a day to see whether the new settings help, whatever waits for it.
TEST_F(WebhookSenderTest, OneThatIsMendedHasAnotherDay) {
  answer(500);
  happen();
  run(sender.step());
  sql("UPDATE webhook SET failing_since = now() - interval '25 hours'");
  sql("UPDATE webhook_delivery SET created_at = now() - interval '25 hours'");
  put();
  all_due();
  run(sender.step());
  EXPECT_EQ(state(), "failing");
  EXPECT_EQ(webhook().pending, 1);
}

TEST_F(WebhookSenderTest, OneWhoseSecretIsSealedAwayFailsAndSaysWhy) {
  happen(3);
  const Cipher stranger{Secret(std::string(32, 'o'))};
  WebhookSender elsewhere{*database, stranger, way, clock, {}};
  EXPECT_EQ(run(elsewhere.step()), 3u);
  EXPECT_TRUE(receiver.calls().empty()) << "it cannot be signed";
  EXPECT_EQ(state(), "failing");
  EXPECT_NE(webhook().last_failure->reason.find("another master key"), std::string::npos);
  for (int rounds = 0; webhook().pending > 0 && rounds < 5; ++rounds) {
    all_due();
    run(sender.step());
  }
  EXPECT_EQ(received().size(), 3u);
  EXPECT_EQ(state(), "active");
}

TEST_F(WebhookSenderTest, ASlowReceiverTakesNoPlaceOfOthers) {
  WebhookDraft slow{.name = "slow",
                    .tenant = other,
                    .url = "https://example.com/slow",
                    .secret = Secret("swordfish"),
                    .types = {"*"}};
  run(store.put(slow, kSetter));
  for (int i = 0; i < 300; ++i) tell(other, "budget.alert", i);
  way.slow = true;
  asio::thread_pool pool(1);
  asio::co_spawn(pool, sender.run(), [](std::exception_ptr) {});
  const auto in_flight = [this] {
    MetricText metrics;
    sender.render(metrics);
    const std::string& text = metrics.str();
    const std::string name = "\nsandgate_webhook_deliveries_in_flight ";
    return std::stoi(text.substr(text.find(name) + name.size()));
  };
  for (int i = 1; i <= 20; ++i) {
    happen();
    sender.wake();
    EXPECT_TRUE(test::eventually([&] { return webhook().pending == 0; }));
  }
  EXPECT_EQ(received().size(), 20u);
  EXPECT_EQ(way.most_waiting, 8) << "of the slow one";
  // The last of the others is written down before it counts as done.
  for (int i = 0; i < 1000 && in_flight() > 8; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LE(in_flight(), 8);
  pool.stop();
  pool.join();
  // What the database still works on is told to the pool.
  EXPECT_TRUE(test::eventually([&] { return database->in_flight() == 0; }));
}

TEST_F(WebhookSenderTest, RemovedMeansNothingIsSent) {
  happen();
  run(store.remove(tenant, "ci", kSetter));
  EXPECT_EQ(run(sender.step()), 0u);
  EXPECT_TRUE(receiver.calls().empty());
}

// A removal locks the webhook first, and what waits to be sent then.
TEST_F(WebhookSenderTest, ARemovalMeetsNoDeliveryHalfway) {
  const auto meets = [&](const char* what, std::function<void()> work) {
    pqxx::connection connection(database.url());
    pqxx::work removal(connection);
    removal.exec("SELECT FROM webhook FOR UPDATE");
    auto working = std::async(std::launch::async, std::move(work));
    EXPECT_TRUE(test::eventually([&] {
      return database.has_lock_waiter() ||
             working.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    })) << what;
    EXPECT_NO_THROW(removal.exec("SELECT FROM webhook_delivery FOR UPDATE NOWAIT")) << what;
    removal.abort();
    working.get();
  };
  happen(3);
  meets("a delivery", [&] { EXPECT_EQ(run(sender.step()), 3u); });
  happen();
  answer(500);
  run(sender.step());
  all_due();
  meets("a failing webhook", [&] { run(sender.step()); });
  answer(200);
  all_due();
  EXPECT_EQ(run(sender.step()), 1u);
  EXPECT_EQ(state(), "active");
}

TEST_F(WebhookSenderTest, Counts) {
  happen();
  run(sender.step());
  MetricText metrics;
  sender.render(metrics);
  EXPECT_NE(metrics.str().find("sandgate_webhook_deliveries_total{outcome=\"delivered\"} 1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sandgate
