#include <gtest/gtest.h>

#include <thread>

#include "billing/prices/price_book.hpp"
#include "billing/prices/price_rows.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/exports/export_events.hpp"
#include "tests/exports/exports_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

using ExportsTest = test::ExportsFixture;

TEST_F(ExportsTest, SendsEveryEventOnceAndAddsUp) {
  put(settings({{tenant.value, "cus_one"}}));
  for (int i = 0; i < 5; ++i) use(1000s + i * 1s);
  drain();
  EXPECT_EQ(received(), used());
  const size_t events = receiver.state()["taken"].size();
  EXPECT_GE(events, 5u);
  EXPECT_EQ(row().sent, static_cast<int64_t>(events));
  drain();
  EXPECT_EQ(receiver.state()["taken"].size(), events);
  use(10s);
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, ChargesHaveNoMoreDigitsThanAreTaken) {
  run(books.publish(price_version_from(
      parse_json(R"({"kind": "charge", "currency": "USD", "effective_from": "2026-01-01T00:00:00Z",
          "entries": [{"provider": "local", "meter": "vcpu_second",
                       "unit_price": "0.000014012345"}]})"),
      "sell")));
  Json wanted = settings({{tenant.value, "cus_one"}});
  wanted["value"] = "charge";
  wanted["currency"] = "USD";
  put(wanted);
  for (int i = 0; i < 3; ++i) use(101s);
  drain();
  EXPECT_EQ(row().dead_letters, 0);
  EXPECT_EQ(received(), Decimal::parse("0.000471277199").value() * Decimal(3));
}

TEST_F(ExportsTest, ChargesOfOneExportAreInOneCurrency) {
  Json wanted = settings({{tenant.value, "cus_one"}});
  wanted["value"] = "charge";
  EXPECT_EQ(test::code_of([&] { put(wanted); }), ErrorCode::invalid) << "which one?";
  run(books.publish(price_version_from(
      parse_json(R"({"kind": "charge", "currency": "EUR", "effective_from": "2026-01-01T00:00:00Z",
          "entries": [{"provider": "local", "meter": "vcpu_second", "unit_price": "0.001"}]})"),
      "sell")));
  wanted["currency"] = "USD";
  put(wanted);
  use(100s);
  drain();
  EXPECT_EQ(receiver.state()["taken"].size(), 0u);
  const auto letters = run(store.dead_letters("out", 0, 10));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].reason, "charged in EUR");
  wanted["currency"] = "EUR";
  put(wanted);
  EXPECT_EQ(run(store.retry("out", {})), 1u);
  drain();
  EXPECT_EQ(received(), Decimal::parse("0.0333").value());
}

TEST_F(ExportsTest, ThePastHasWhatIsBookedAtThatMoment) {
  pqxx::connection other(database.url());
  pqxx::work booking(other);
  forget_prepared();
  lock_rating(booking);
  std::thread putting([&] { put(settings({{tenant.value, "cus_one"}})); });
  for (int i = 0; i < 20; ++i) use(10s);
  EXPECT_EQ(test::code_of([&] { row(); }), ErrorCode::not_found) << "it waits";
  booking.commit();
  putting.join();
  EXPECT_NO_THROW(row());
}

TEST_F(ExportsTest, SecretsAreSentNowhereElseUnlessTheyAreGivenAgain) {
  ExportStore::Draft draft{.name = "out", .kind = "stripe", .settings = settings(Json::object())};
  draft.secrets = {{"api_key", Secret("sk_test_fake")}};
  run(store.put(draft, {}));
  draft.secrets.reset();
  draft.settings["customers"][tenant.value] = "cus_one";
  run(store.put(draft, {}));
  for (const Json& elsewhere : {Json("https://elsewhere.example"), Json()}) {
    draft.settings["url"] = elsewhere;
    EXPECT_EQ(test::code_of(store.put(draft, {})), ErrorCode::invalid) << elsewhere;
  }
  EXPECT_EQ(row().settings["url"], receiver.url());
  draft.secrets = {{"api_key", Secret("sk_test_other")}};
  EXPECT_NO_THROW(run(store.put(draft, {})));
}

TEST_F(ExportsTest, TheTrailHasNoPasswordsOfAddresses) {
  ExportStore::Draft draft{.name = "out", .kind = "webhook"};
  draft.settings = {{"url", "https://me:mackerel@example.com/x?token=mackerel"}};
  draft.secrets = {{"secret", Secret("0123456789abcdef")}};
  Json before, after;
  const auto trail = [&](pqxx::work&, const Json& was, const Json& is) {
    before = was, after = is;
  };
  for (int i = 0; i < 2; ++i) run(store.put(draft, trail));
  for (const Json& told : {before, after})
    EXPECT_EQ(told["settings"], Json({{"url", "https://***@example.com/x?***"}}));
  run(store.remove("out", trail));
  EXPECT_EQ(before["settings"]["url"], "https://***@example.com/x?***");
}

TEST_F(ExportsTest, ALostAnswerOrACrashSendsAgainAndCountsOnce) {
  put(settings({{tenant.value, "cus_one"}}));
  for (int i = 0; i < 4; ++i) use(100s);
  receiver.fault({{"status", 500}, {"times", 3}, {"lost", true}});
  drain();
  EXPECT_EQ(received(), used());
  EXPECT_GT(receiver.state()["duplicates"].get<int>(), 0);
  // As if the process had died between the answers and its commit.
  run(database->run([](pqxx::work& tx) { tx.exec("UPDATE export SET cursor = 0"); }));
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, WaitsLongerAfterEachFailureAndObeysRetryAfter) {
  put(settings({{tenant.value, "cus_one"}}));
  use(10s);
  receiver.fault({{"status", 429}, {"times", 1}, {"retry_after", 77}});
  run(runner.run_once());
  const ExportRow waiting = row();
  EXPECT_EQ(waiting.failures, 1);
  EXPECT_GT(waiting.next_try_at, clock.now() + 60s);
  EXPECT_EQ(run(runner.run_once()), 0u) << "it is not due";
  EXPECT_EQ(ExportRunner::backoff(0), 2s);
  EXPECT_EQ(ExportRunner::backoff(3), 16s);
  EXPECT_EQ(ExportRunner::backoff(50), 300s);
  drain();
  EXPECT_EQ(received(), used());
  EXPECT_EQ(row().failures, 0);
}

TEST_F(ExportsTest, ALongReasonIsCutBetweenCharacters) {
  put(settings({{tenant.value, "cus_one"}}));
  use(10s);
  std::string kept = "x";
  for (int i = 0; i < 99; ++i) kept += "\u00e9";
  receiver.fault({{"status", 500}, {"times", 1}, {"message", kept + "\u00e9\u00e9"}});
  run(runner.run_once());
  EXPECT_EQ(row().error, "500  " + kept);
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, WhoHasToWaitSendsNoMoreOfTheBatch) {
  put(settings({{tenant.value, "cus_one"}}));
  for (int i = 0; i < 30; ++i) use(10s);
  receiver.fault({{"status", 429}, {"times", 1000}, {"retry_after", 7}});
  run(runner.run_once());
  EXPECT_LE(receiver.state()["requests"], 8) << "those that were under way";
  EXPECT_NE(row().error.find("429"), std::string::npos);
  receiver.fault({{"times", 0}});
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, ARefusedKeyStopsItWithoutDeadLetters) {
  put(settings({{tenant.value, "cus_one"}}), "stripe", {{"api_key", Secret("sk_wrong")}});
  use(10s);
  run(runner.run_once());
  EXPECT_NE(row().error.find("401"), std::string::npos);
  EXPECT_EQ(row().dead_letters, 0);
  put(settings({{tenant.value, "cus_one"}}));
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, WhatIsRefusedForGoodIsADeadLetterThatCanBeRetried) {
  put(settings({{tenant.value, "cus_unknown"}}));
  use(10s);
  use(10s, 36 * 24h);  // the receiver takes 35 days
  drain();
  EXPECT_EQ(row().error, "");
  const auto letters = run(store.dead_letters("out", 0, 10));
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_NE(letters[0].reason.find("No such customer"), std::string::npos);
  EXPECT_EQ(letters[1].reason, "older than 35 days");
  put(settings({{tenant.value, "cus_two"}}));
  EXPECT_EQ(run(store.retry("out", {})), 2u);
  drain();
  const auto left = run(store.dead_letters("out", 0, 10));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].reason, "older than 35 days");
  EXPECT_EQ(receiver.state()["taken"].size(), 1u);
  EXPECT_EQ(row().sent, 1) << "what was retried counts as sent";
}

TEST_F(ExportsTest, DeadLettersThatAreRetriedObeyRetryAfterToo) {
  put(settings({{tenant.value, "cus_unknown"}}));
  use(10s);
  drain();
  EXPECT_EQ(row().dead_letters, 1);
  put(settings({{tenant.value, "cus_two"}}));
  EXPECT_EQ(run(store.retry("out", {})), 1u);
  receiver.fault({{"status", 429}, {"times", 1}, {"retry_after", 77}});
  run(runner.run_once());
  EXPECT_NE(row().error.find("429"), std::string::npos);
  EXPECT_GT(row().next_try_at, clock.now() + 60s);
  drain();
  EXPECT_EQ(row().dead_letters, 0);
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, ARoundChangesNoOtherExportThatHasItsNameByNow) {
  put(settings({{tenant.value, "cus_one"}}));
  use(10s);
  const auto taken = run(
      database->run([&](pqxx::work& tx) { return export_rows::take(tx, cipher, "out", 1min); }));
  run(store.remove("out", {}));
  put(settings({{tenant.value, "cus_two"}}));
  const int64_t begins = row().cursor;
  run(database->run([&](pqxx::work& tx) {
    const auto events = read_export_events(tx, begins, begins + 1000);
    export_rows::count_sent(tx, *taken, 1);
    export_rows::add_dead_letter(tx, *taken, events.at(0), "refused");
    export_rows::finish(tx, *taken, {.cursor = begins + 1000, .sent = 5, .error = "late"});
  }));
  EXPECT_EQ(row().cursor, begins);
  EXPECT_EQ(row().sent, 0);
  EXPECT_EQ(row().error, "");
  EXPECT_EQ(row().dead_letters, 0);
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, OthersTenantsAndMetersArePassedOver) {
  put(settings({{TenantId::make().value, "cus_one"}}));
  use(10s);
  drain();
  EXPECT_EQ(receiver.state()["requests"], 0);
  EXPECT_GT(row().cursor, 0);
}

TEST_F(ExportsTest, SettingsThatAreNullAreNotSet) {
  Json wanted = settings({{tenant.value, "cus_one"}, {TenantId::make().value, nullptr}});
  wanted["value"] = nullptr;
  wanted["meters"]["memory_gib_second"] = nullptr;
  put(std::move(wanted));
  EXPECT_FALSE(row().settings.contains("value"));
  use(1000s);
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, AnotherMeterOfTheReceiverThatDoesNotExistIsADeadLetter) {
  put(settings({{tenant.value, "cus_one"}}));
  use(10s, 30min, 5);
  drain();
  EXPECT_EQ(received(), used());
  EXPECT_EQ(row().dead_letters, 1);
}

TEST_F(ExportsTest, SignedBatchesReachAWebhook) {
  put({{"url", receiver.url() + "/hook"}, {"allow_private", true}}, "webhook",
      {{"secret", Secret("whsec-0123456789abcdef")}});
  for (int i = 0; i < 3; ++i) use(100s);
  receiver.fault({{"status", 503}, {"times", 1}, {"lost", true}});
  drain();
  Decimal sum;
  const Json state = receiver.state();
  for (const Json& event : state["hooks"])
    if (event["meter"] == "vcpu_second")
      sum += Decimal::parse(event["quantity"].get<std::string>()).value();
  EXPECT_EQ(sum, used());
  EXPECT_EQ(row().dead_letters, 0);
}

TEST_F(ExportsTest, AWebhookWhoseCredentialsAreRefusedForNowMissesNothing) {
  put({{"url", receiver.url() + "/hook"}, {"allow_private", true}}, "webhook",
      {{"secret", Secret("whsec-0123456789abcdef")}});
  use(100s);
  for (const int status : {401, 403, 409}) {
    receiver.fault({{"status", status}, {"times", 1}});
    run(runner.run_once());
    EXPECT_NE(row().error.find(std::to_string(status)), std::string::npos);
    run(database->run([](pqxx::work& tx) { tx.exec("UPDATE export SET next_try_at = now()"); }));
  }
  drain();
  EXPECT_EQ(row().dead_letters, 0);
  EXPECT_FALSE(receiver.state()["hooks"].empty());
}

TEST_F(ExportsTest, APrivateReceiverTakesTheOperatorsLeave) {
  put({{"url", receiver.url() + "/hook"}}, "webhook",
      {{"secret", Secret("whsec-0123456789abcdef")}});
  use(100s);
  run(runner.run_once());
  EXPECT_EQ(row().error, "the receiver's address is not a public one");
  run(database->run([](pqxx::work& tx) { tx.exec("UPDATE export SET next_try_at = now()"); }));
  ExportRunner allowed{*database, cipher, http, clock, true};
  EXPECT_GT(run(allowed.run_once()), 0u);
  EXPECT_EQ(row().error, "");
}

TEST_F(ExportsTest, AWrongSignatureIsRefused) {
  put({{"url", receiver.url() + "/hook"}, {"allow_private", true}}, "webhook",
      {{"secret", Secret("another-secret-of-16")}});
  use(10s);
  drain();
  EXPECT_EQ(receiver.state()["hooks"].size(), 0u);
  EXPECT_GT(row().dead_letters, 0);
}

TEST_F(ExportsTest, SecretsAreSealedKeptAndNeverShown) {
  put(settings({{tenant.value, "cus_one"}}));
  const std::string stored = run(database->run([](pqxx::work& tx) {
    return pqxx::binarystring(tx.exec1("SELECT secrets FROM export")[0]).str();
  }));
  EXPECT_EQ(stored.find("sk_test"), std::string::npos);
  EXPECT_EQ(to_json(row()).dump().find("sk_test"), std::string::npos);
  EXPECT_EQ(to_json(row())["secret_names"], Json({"api_key"}));
  ExportStore::Draft same{.name = "out", .kind = "stripe", .settings = settings(Json::object())};
  EXPECT_EQ(run(store.put(same, {})).secrets.at("api_key").reveal(), "sk_test_fake");
}

TEST_F(ExportsTest, OneSealedAwayIsShownAndWaits) {
  put(settings({{tenant.value, "cus_one"}}));
  use(1000s);
  const Cipher other{Secret(std::string(32, 'o'))};
  ExportStore elsewhere{*database, other};
  EXPECT_NE(run(elsewhere.list()).at(0).error, "");
  ExportRunner stranger{*database, other, http, clock};
  run(stranger.run_once());
  EXPECT_EQ(row().failures, 1);
  EXPECT_EQ(receiver.state()["taken"].size(), 0u);
  drain();
  EXPECT_EQ(received(), used());
}

TEST_F(ExportsTest, RefusesNonsenseAndSaysWhere) {
  const auto paths = [&](const Json& wanted, const std::string& kind) {
    ExportStore::Draft draft{.name = "bad", .kind = kind, .settings = wanted};
    std::set<std::string> found;
    try {
      run(store.put(draft, {}));
    } catch (const Error& error) {
      for (const auto& field : error.fields) found.insert(field.path);
    }
    return found;
  };
  EXPECT_EQ(
      paths({{"customers", {{"x", "cus"}}}, {"meters", {{"y", "z"}}}, {"spare", 1}}, "stripe"),
      (std::set<std::string>{"/settings/customers/x", "/settings/meters/y", "/settings/spare",
                             "/secrets/api_key"}));
  for (const char* url : {"ftp://somewhere", "https://", "https://a b", "http://a:0",
                          "http://a:99999", "https://a#b"})
    EXPECT_EQ(paths({{"url", url}}, "webhook"),
              (std::set<std::string>{"/settings/url", "/secrets/secret"}))
        << url;
}

// A key is sent in a header, and a path follows the address.
TEST_F(ExportsTest, WhatCannotBeSentInARequestIsRefused) {
  ExportStore::Draft draft{
      .name = "out", .kind = "stripe", .settings = settings({{tenant.value, "cus_one"}})};
  draft.secrets = {{"api_key", Secret("sk_test_fake\n")}};
  EXPECT_EQ(test::code_of(store.put(draft, {})), ErrorCode::invalid);
  draft.settings["url"] = receiver.url() + "/?of=somebody";
  draft.secrets = {{"api_key", Secret("sk_test_fake")}};
  EXPECT_EQ(test::code_of(store.put(draft, {})), ErrorCode::invalid);
  put([&] {
    Json with_slash = settings({{tenant.value, "cus_one"}});
    with_slash["url"] = receiver.url() + "/";
    return with_slash;
  }());
  use(100s);
  drain();
  EXPECT_EQ(received(), used());
}

}  // namespace
}  // namespace sandgate
