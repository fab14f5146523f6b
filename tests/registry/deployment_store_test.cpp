#include "registry/deployment_store.hpp"

#include "tests/registry/registry_fixture.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::kActor;
using test::run;

void accept(const DeploymentRow&) {}

struct DeploymentStoreTest : testing::Test {
  DeploymentDraft draft(std::optional<TenantId> owner, std::optional<std::string> key) {
    DeploymentDraft draft{.name = "main", .tenant = std::move(owner), .provider = "acme"};
    if (key) draft.credentials = Credentials{{"api_key", Secret(*key)}};
    return draft;
  }
  test::TestDatabase database;
  Cipher cipher{Secret(std::string(32, 'k'))};
  TenantStore tenants{*database};
  DeploymentStore store{*database, cipher};
  TenantId tenant = run(tenants.create("acme", kActor)).id;
};

TEST_F(DeploymentStoreTest, KeepsCredentialsSealed) {
  const auto row = run(store.put(draft(std::nullopt, "hunter2-key"), accept, kActor));
  EXPECT_EQ(row.credentials.at("api_key").reveal(), "hunter2-key");
  EXPECT_EQ(to_json(row).at("credential_names"), Json{"api_key"});
  EXPECT_EQ(to_json(row).dump().find("hunter2"), std::string::npos);
  const auto hits = run(database->run([](pqxx::work& tx) {
    return tx
        .exec1(
            "SELECT (SELECT count(*) FROM deployment t WHERE "
            "position('hunter2' in encode(credentials, 'escape')) > 0) + "
            "(SELECT count(*) FROM audit_entry t WHERE t::text LIKE '%hunter2%')")[0]
        .as<int64_t>();
  }));
  EXPECT_EQ(hits, 0);
  EXPECT_EQ(run(store.all()).at(0).credentials.at("api_key").reveal(), "hunter2-key");
}

TEST_F(DeploymentStoreTest, KeepsCredentialsThatAreNotSentAgain) {
  const auto first = run(store.put(draft(std::nullopt, "a"), accept, kActor));
  const auto second = run(store.put(draft(std::nullopt, std::nullopt), accept, kActor));
  EXPECT_EQ(second.credentials.at("api_key").reveal(), "a");
  EXPECT_GT(second.version, first.version);
  EXPECT_EQ(second.created_at, first.created_at);
  DeploymentDraft other = draft(std::nullopt, std::nullopt);
  other.provider = "elsewhere";
  EXPECT_TRUE(run(store.put(other, accept, kActor)).credentials.empty());
}

TEST_F(DeploymentStoreTest, CredentialsAreSentNowhereElseUnlessTheyAreGivenAgain) {
  const auto put = [&](const Json& settings, std::optional<std::string> key) {
    DeploymentDraft wanted = draft(tenant, std::move(key));
    wanted.settings = settings;
    return store.put(std::move(wanted), accept, kActor);
  };
  const Json there{{"api_url", "https://a.example"}, {"team", "x"}};
  run(put(there, "hunter2-key"));
  const std::vector<Json> elsewhere{
      {{"api_url", "https://b.example"}, {"team", "x"}},
      {{"team", "x"}},
      {{"api_url", "https://a.example"}, {"control_url", "https://b.example"}},
      {{"api_url", "https://a.example"}, {"domain", "b.example"}}};
  for (const Json& settings : elsewhere)
    EXPECT_EQ(code_of(put(settings, std::nullopt)), ErrorCode::invalid) << settings;
  EXPECT_EQ(run(store.find(tenant, "main"))->settings, there);
  const Json same{{"api_url", "https://a.example/"}, {"team", "y"}, {"domain", nullptr}};
  EXPECT_EQ(run(put(same, std::nullopt)).credentials.at("api_key").reveal(), "hunter2-key");
  EXPECT_EQ(run(put(elsewhere[0], "b")).credentials.at("api_key").reveal(), "b");
}

TEST_F(DeploymentStoreTest, AnotherMasterKeyLosesOnlyWhatItDoesNotOpen) {
  run(store.put(draft(std::nullopt, "a"), accept, kActor));
  const Cipher fresh{Secret(std::string(32, 'f'))};
  DeploymentStore later{*database, fresh};
  DeploymentDraft second = draft(std::nullopt, "b");
  second.name = "second";
  run(later.put(std::move(second), accept, kActor));
  const auto rows = run(later.all());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].sealed_by_other_key);
  EXPECT_TRUE(rows[0].credentials.empty());
  EXPECT_FALSE(rows[1].sealed_by_other_key);
  EXPECT_EQ(code_of(later.put(draft(std::nullopt, std::nullopt), accept, kActor)),
            ErrorCode::invalid)
      << "what cannot be opened cannot be kept";
  EXPECT_EQ(run(later.put(draft(std::nullopt, "c"), accept, kActor)).sealed_by_other_key, false);
}

TEST_F(DeploymentStoreTest, NamesAreNeverShadowed) {
  run(store.put(draft(std::nullopt, "a"), accept, kActor));
  EXPECT_EQ(code_of(store.put(draft(tenant, "b"), accept, kActor)), ErrorCode::conflict);
  run(store.remove(std::nullopt, "main", kActor));
  run(store.put(draft(tenant, "b"), accept, kActor));
  EXPECT_EQ(code_of(store.put(draft(std::nullopt, "a"), accept, kActor)), ErrorCode::conflict);
  const TenantId other = run(tenants.create("other", kActor)).id;
  run(store.put(draft(other, "c"), accept, kActor));
  EXPECT_EQ(run(store.all()).size(), 2u);
  EXPECT_EQ(run(store.list(other, "", 10)).size(), 1u);
  EXPECT_EQ(code_of(store.remove(std::nullopt, "main", kActor)), ErrorCode::not_found);
}

TEST_F(DeploymentStoreTest, AsksBeforeWhatIsThereIsOutOfReach) {
  bool used = true;
  DeploymentStore asking{*database, cipher, [&](pqxx::work&, const DeploymentRow& row) {
                           EXPECT_EQ(row.provider, "acme");
                           if (used) throw Error(ErrorCode::conflict, "is in use");
                         }};
  run(asking.put(draft(std::nullopt, "a"), accept, kActor));
  run(asking.put(draft(std::nullopt, "b"), accept, kActor));
  DeploymentDraft other = draft(std::nullopt, "c");
  other.provider = "elsewhere";
  EXPECT_EQ(code_of(asking.put(other, accept, kActor)), ErrorCode::conflict);
  EXPECT_EQ(code_of(asking.remove(std::nullopt, "main", kActor)), ErrorCode::conflict);
  EXPECT_EQ(run(store.all()).at(0).provider, "acme");
  used = false;
  run(asking.remove(std::nullopt, "main", kActor));
  EXPECT_TRUE(run(store.all()).empty());
}

TEST_F(DeploymentStoreTest, ATenantHasSoManyAtMost) {
  const auto named = [&](int number) {
    DeploymentDraft one = draft(tenant, "a");
    one.name = "d" + std::to_string(number);
    return one;
  };
  for (int i = 0; i < DeploymentStore::kMaxPerTenant; ++i) run(store.put(named(i), accept, kActor));
  EXPECT_EQ(code_of(store.put(named(99), accept, kActor)), ErrorCode::quota_exceeded);
  run(store.put(named(0), accept, kActor));
  run(store.put(draft(std::nullopt, "a"), accept, kActor));
}

TEST_F(DeploymentStoreTest, WritesNothingThatIsRefused) {
  const auto refuse = [](const DeploymentRow&) { throw Error::invalid("/settings/url", "no"); };
  EXPECT_EQ(code_of(store.put(draft(std::nullopt, "a"), refuse, kActor)), ErrorCode::invalid);
  EXPECT_TRUE(run(store.all()).empty());
}

}  // namespace
}  // namespace sandgate
