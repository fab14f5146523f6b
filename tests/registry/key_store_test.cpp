#include "registry/key_store.hpp"

#include "registry/api_secret.hpp"
#include "tests/registry/registry_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::kActor;
using test::run;

struct KeyStoreTest : testing::Test {
  std::optional<KeyGrant> find(const Secret& secret) {
    return run(keys.find_by_hash(*api_secret_hash(secret.reveal())));
  }
  test::TestDatabase database;
  TenantStore tenants{*database};
  KeyStore keys{*database};
  TenantId tenant = run(tenants.create("acme", kActor)).id;
};

TEST(ApiSecret, HasTwoSpellingsAndOneHash) {
  const std::string secret = make_api_secret().reveal();
  EXPECT_EQ(secret.size(), 43u);
  EXPECT_EQ(api_secret_hash(secret), api_secret_hash("e2b_" + secret.substr(3)));
  for (const std::string& text :
       {std::string(), "sg_" + std::string(39, 'a'), "sg_" + std::string(40, 'A'),
        std::string(40, 'a'), "xy_" + std::string(40, 'a'), secret + "0"})
    EXPECT_FALSE(api_secret_hash(text)) << text;
  EXPECT_EQ(operator_secret_hash("e2b_" + secret.substr(3)), *api_secret_hash(secret));
  EXPECT_NE(operator_secret_hash("any words"), operator_secret_hash("other words"));
}

TEST(MayGrant, NobodyHandsOutMoreThanHeHas) {
  EXPECT_TRUE(may_grant(Role::admin, Role::admin));
  EXPECT_TRUE(may_grant(Role::admin, Role::billing));
  EXPECT_TRUE(may_grant(Role::operator_, Role::operator_));
  EXPECT_FALSE(may_grant(Role::admin, Role::owner));
  EXPECT_FALSE(may_grant(Role::owner, Role::operator_));
  EXPECT_FALSE(may_grant(Role::developer, Role::billing));
}

TEST_F(KeyStoreTest, ATenantHasSoManyThatAreValid) {
  auto fill = [this](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO api_key (id, tenant, name, role) SELECT 'ky' || lpad(n::text, 24, '0'), $1,"
        " 'k', 'viewer' FROM generate_series(1, $2) AS n",
        tenant.value, KeyStore::kMaxPerTenant);
  };
  run(database->run(fill));
  const auto create = [this](std::optional<TenantId> owner, Role role) {
    return code_of(keys.create(owner, "k", role, std::nullopt, kActor));
  };
  EXPECT_EQ(create(tenant, Role::viewer), ErrorCode::quota_exceeded);
  EXPECT_EQ(create(std::nullopt, Role::operator_), std::nullopt);
  run(keys.revoke(KeyId{"ky" + std::string(23, '0') + "1"}, kActor));
  EXPECT_EQ(create(tenant, Role::viewer), std::nullopt);
}

TEST_F(KeyStoreTest, AKeyHasSoManySecretsAtOnce) {
  const KeyId id = run(keys.create(tenant, "k", Role::viewer, std::nullopt, kActor)).key.id;
  for (int i = 1; i < KeyStore::kMaxSecrets; ++i) run(keys.rotate(id, 1h, kActor));
  EXPECT_EQ(code_of(keys.rotate(id, 1h, kActor)), ErrorCode::quota_exceeded);
  // Without a grace the older ones are over.
  run(keys.rotate(id, 0s, kActor));
  run(keys.rotate(id, 1h, kActor));
}

TEST_F(KeyStoreTest, StoresOnlyAHash) {
  const NewApiKey made = run(keys.create(tenant, "ci", Role::developer, std::nullopt, kActor));
  EXPECT_EQ(find(made.secret)->key.tenant, tenant);
  EXPECT_FALSE(find(make_api_secret()));
  const std::string digits = made.secret.reveal().substr(3);
  const int64_t hits = run(database->run([&](pqxx::work& tx) {
    return tx
        .exec_params1(
            "SELECT (SELECT count(*) FROM api_key t WHERE t::text LIKE $1) + "
            "(SELECT count(*) FROM api_key_secret t WHERE t::text LIKE $1) + "
            "(SELECT count(*) FROM audit_entry t WHERE t::text LIKE $1)",
            "%" + digits + "%")[0]
        .as<int64_t>();
  }));
  EXPECT_EQ(hits, 0);
}

TEST_F(KeyStoreTest, NeedsATenantThatExists) {
  EXPECT_EQ(code_of(keys.create(TenantId::make(), "ci", Role::viewer, std::nullopt, kActor)),
            ErrorCode::not_found);
}

TEST_F(KeyStoreTest, RotationLeavesTheOldSecretItsGrace) {
  const NewApiKey made = run(keys.create(tenant, "ci", Role::developer, std::nullopt, kActor));
  const NewApiKey second = run(keys.rotate(made.key.id, 1h, kActor));
  EXPECT_EQ(second.key.id, made.key.id);
  const auto left = *find(made.secret)->secret_valid_until - SystemClock().now();
  EXPECT_LT(left, 61min);
  EXPECT_GT(left, 59min);
  EXPECT_FALSE(find(second.secret)->secret_valid_until);
  run(keys.rotate(made.key.id, 24h, kActor));
  EXPECT_LT(*find(made.secret)->secret_valid_until - SystemClock().now(), 61min);
  run(keys.revoke(made.key.id, kActor));
  EXPECT_FALSE(find(made.secret));
  EXPECT_FALSE(find(second.secret));
  EXPECT_EQ(code_of(keys.rotate(made.key.id, 0s, kActor)), ErrorCode::conflict);
  run(keys.revoke(made.key.id, kActor));
  EXPECT_EQ(code_of(keys.revoke(KeyId::make(), kActor)), ErrorCode::not_found);
}

TEST_F(KeyStoreTest, RotationWithoutGraceEndsTheOldSecretsWhateverAClockSays) {
  const NewApiKey made = run(keys.create(tenant, "ci", Role::developer, std::nullopt, kActor));
  const NewApiKey second = run(keys.rotate(made.key.id, 1h, kActor));
  const NewApiKey third = run(keys.rotate(made.key.id, 0s, kActor));
  EXPECT_FALSE(find(made.secret));
  EXPECT_FALSE(find(second.secret));
  EXPECT_FALSE(find(third.secret)->secret_valid_until);
}

TEST_F(KeyStoreTest, ListsInPages) {
  for (int i = 0; i < 3; ++i)
    run(keys.create(tenant, std::to_string(i), Role::viewer, std::nullopt, kActor));
  run(keys.create(std::nullopt, "op", Role::operator_, std::nullopt, kActor));
  const auto first = run(keys.list(tenant, std::nullopt, 2));
  ASSERT_EQ(first.size(), 2u);
  const auto rest = run(keys.list(tenant, std::pair(first[1].created_at, first[1].id.value), 10));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].name, "2");
  EXPECT_EQ(run(keys.list(std::nullopt, std::nullopt, 10)).size(), 4u);
}

TEST_F(KeyStoreTest, EveryChangeLeavesATrailThatCannotBeRewritten) {
  const NewApiKey made = run(keys.create(tenant, "ci", Role::developer, std::nullopt, kActor));
  run(keys.revoke(made.key.id, kActor));
  const auto rows = run(database->run([&](pqxx::work& tx) {
    return read_audit(tx, {.tenant = tenant, .object = made.key.id.value});
  }));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].entry.action, "key.revoke");
  EXPECT_TRUE(rows[0].entry.before.at("revoked_at").is_null());
  EXPECT_TRUE(rows[0].entry.after.at("revoked_at").is_string());
  EXPECT_EQ(rows[1].entry.action, "key.create");
  EXPECT_EQ(rows[1].entry.actor.request_id, "rqx");
  for (const auto* sql :
       {"UPDATE audit_entry SET action = 'x'", "DELETE FROM audit_entry", "TRUNCATE audit_entry"})
    EXPECT_NE(test::sql_refusal(database, sql), "") << sql;
}

TEST_F(KeyStoreTest, AChangeThatFailsLeavesNoTrail) {
  EXPECT_EQ(code_of(keys.create(TenantId::make(), "ci", Role::viewer, std::nullopt, kActor)),
            ErrorCode::not_found);
  const auto rows =
      run(database->run([](pqxx::work& tx) { return read_audit(tx, {.action = "key.create"}); }));
  EXPECT_TRUE(rows.empty());
}

TEST_F(KeyStoreTest, TenantsHaveLimits) {
  const TenantLimits limits{.max_running = 3, .max_milli_vcpu = 2500, .requests_per_second = 9};
  EXPECT_EQ(run(tenants.set_limits(tenant, limits, kActor)).limits, limits);
  EXPECT_EQ(run(database->run([&](pqxx::work& tx) { return tenant_limits(tx, tenant); })), limits);
  EXPECT_EQ(code_of(tenants.set_limits(TenantId::make(), limits, kActor)), ErrorCode::not_found);
  EXPECT_TRUE(run(tenants.change(tenant, {.suspended = true}, kActor)).suspended);
  EXPECT_EQ(run(tenants.find(tenant))->name, "acme");
}

// As authentication does, whose clock follows the database's.
TEST_F(KeyStoreTest, AKeyHasExpiredOnceItHasByTheDatabasesClock) {
  run(database->run([](pqxx::work& tx) {
    tx.exec(
        "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
        " $$SELECT pg_catalog.clock_timestamp() + interval '1 hour'$$");
  }));
  Database ahead({.url = database.url() + " options=-csearch_path=public,pg_catalog"});
  KeyStore there(ahead);
  const auto expiring_in = [&](std::chrono::minutes time) {
    const Time end = SystemClock().now() + time;
    return run(there.create(tenant, "ci", Role::developer, end, kActor)).key.id;
  };
  EXPECT_EQ(code_of(there.rotate(expiring_in(30min), 0s, kActor)), ErrorCode::conflict);
  run(there.rotate(expiring_in(90min), 0s, kActor));
}

}  // namespace
}  // namespace sandgate
