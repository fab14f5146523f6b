#include "gateway/events/webhook_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/events/events_world.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::run;

const Actor kOwner{.key_id = "kyx", .key_name = "test", .role = "owner", .request_id = "rqx"};

struct WebhookStoreTest : testing::Test, test::EventsWorld {
  WebhookDraft draft(const std::string& name = "ci",
                     std::optional<std::string> secret = "swordfish-1") {
    WebhookDraft draft{
        .name = name, .tenant = tenant, .url = "https://example.com/hook", .types = {"sandbox.*"}};
    if (secret) draft.secret = Secret(*secret);
    return draft;
  }
  Cipher cipher{Secret(std::string(32, 'k'))};
  WebhookStore store{*database, cipher};
};

TEST_F(WebhookStoreTest, TheSecretIsSealedAndNeverShown) {
  const Webhook made = run(store.put(draft(), kOwner));
  EXPECT_EQ(to_json(made).dump().find("swordfish"), std::string::npos);
  EXPECT_EQ(sql("SELECT count(*) FROM webhook WHERE position('swordfish' in"
                " encode(secret, 'escape')) > 0 OR (webhook.*)::text LIKE '%swordfish%'"),
            "0");
  EXPECT_EQ(sql("SELECT count(*) FROM audit_entry t WHERE t::text LIKE '%swordfish%'"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM audit_entry WHERE action = 'webhook.put'"), "1");
}

TEST_F(WebhookStoreTest, TheTrailHasNoPasswordsOfAddresses) {
  WebhookDraft wanted = draft();
  wanted.url = "https://example.com/hook?token=mackerel";
  EXPECT_EQ(run(store.put(wanted, kOwner)).url, wanted.url) << "who may put it may see it";
  run(store.put(draft(), kOwner));
  run(store.put(wanted, kOwner));
  run(store.remove(tenant, "ci", kOwner));
  EXPECT_EQ(sql("SELECT count(*) FROM audit_entry t WHERE t::text LIKE '%mackerel%'"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM audit_entry WHERE"
                " after->>'url' = 'https://example.com/hook?***'"),
            "2");
}

TEST_F(WebhookStoreTest, KeepsTheSecretThatIsNotSentAgain) {
  EXPECT_EQ(code_of(store.put(draft("ci", std::nullopt), kOwner)), ErrorCode::invalid);
  run(store.put(draft(), kOwner));
  const auto before = sql("SELECT encode(secret, 'hex') FROM webhook");
  WebhookDraft changed = draft("ci", std::nullopt);
  changed.types = {"budget.alert"};
  EXPECT_EQ(run(store.put(changed, kOwner)).types, changed.types);
  EXPECT_EQ(sql("SELECT encode(secret, 'hex') FROM webhook"), before);
}

TEST_F(WebhookStoreTest, BelongsToItsTenant) {
  run(store.put(draft(), kOwner));
  EXPECT_TRUE(run(store.find(tenant, "ci")));
  EXPECT_FALSE(run(store.find(other, "ci")));
  EXPECT_FALSE(run(store.find(std::nullopt, "ci")));
  EXPECT_TRUE(run(store.list(other, "", 10)).empty());
  EXPECT_THROW(run(store.remove(other, "ci", kOwner)), Error);
  run(store.remove(tenant, "ci", kOwner));
  EXPECT_FALSE(run(store.find(tenant, "ci")));
}

TEST_F(WebhookStoreTest, ListsByNameInPages) {
  for (const char* name : {"c", "a", "b"}) run(store.put(draft(name), kOwner));
  const auto first = run(store.list(tenant, "", 2));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[1].name, "b");
  EXPECT_EQ(run(store.list(tenant, "b", 2)).at(0).name, "c");
}

TEST_F(WebhookStoreTest, ATenantHasSoManyAndNoMore) {
  for (int i = 0; i < WebhookStore::kMaxPerTenant; ++i)
    run(store.put(draft("w" + std::to_string(i)), kOwner));
  EXPECT_EQ(code_of(store.put(draft("more"), kOwner)), ErrorCode::quota_exceeded);
  run(store.put(draft("w0"), kOwner));
}

TEST_F(WebhookStoreTest, GetsWhatMatchesFromItsBeginningOn) {
  tell(tenant, "deployment.closed");
  run(log.catch_up());
  tell(tenant, "deployment.closed");  // before them too, though not in the log yet
  run(store.put(draft(), kOwner));
  WebhookDraft shared = draft("all");
  shared.tenant.reset();
  shared.types = {"*"};
  run(store.put(shared, kOwner));
  add_sandbox(tenant);
  add_sandbox(other);
  tell(std::nullopt, "deployment.opened");
  run(log.catch_up());
  EXPECT_EQ(run(store.find(tenant, "ci"))->pending, 1);
  // The operator's gets everybody's.
  EXPECT_EQ(run(store.find(std::nullopt, "all"))->pending, 3);
}

TEST_F(WebhookStoreTest, RemovingOneDoesNotDisturbTheLog) {
  std::atomic<bool> done{false};
  std::thread changing([&] {
    Database own({.url = database.url(), .connections = 1});
    WebhookStore theirs(own, cipher);
    for (int i = 0; i < 60; ++i) {
      run(theirs.put(draft(), kOwner));
      run(theirs.remove(tenant, "ci", kOwner));
    }
    done = true;
  });
  size_t collected = 0;
  while (!done) {
    add_sandbox(tenant);
    EXPECT_NO_THROW(collected += run(log.collect(100)));
  }
  changing.join();
  EXPECT_GT(collected, 0u);
}

}  // namespace
}  // namespace sandgate
