#include "gateway/app/master_key.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gateway/core/crypto.hpp"
#include "gateway/events/webhook_store.hpp"
#include "gateway/exports/export_rows.hpp"
#include "registry/deployment_store.hpp"
#include "registry/secret_store.hpp"
#include "registry/tenant_store.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using test::run;

const Secret kFirst(std::string(32, 'a')), kSecond(std::string(32, 'b'));
const Cipher kFirstVault(kFirst);
const Actor kStranger{.key_id = "kyx", .key_name = "t", .role = "operator", .request_id = "rqx"};

class MasterKey : public testing::Test {
 protected:
  KeyClaim claim(const Secret& key, const std::string& lost = "") {
    return run(database->run([=](pqxx::work& tx) { return claim_database(tx, key, lost); }));
  }
  std::optional<std::string> known() { return run(database->run(&known_fingerprint)); }
  void refuses(const Secret& key, const std::string& named) {
    try {
      claim(key);
      FAIL() << "the other key was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::conflict);
      EXPECT_NE(std::string(error.what()).find("master_key_lost=" + named), std::string::npos)
          << error.what();
    }
  }
  void seal(const TenantId& owner, const Cipher& cipher, const std::string& name) {
    run(SecretStore(*database, cipher).put(owner, name, Secret("v"), kStranger));
  }
  TenantId tenant() { return run(TenantStore(*database).create("t", kStranger)).id; }

  test::TestDatabase database;
};

TEST_F(MasterKey, TheFirstOneCounts) {
  EXPECT_EQ(known(), std::nullopt);
  EXPECT_EQ(claim(kFirst), KeyClaim::ours);
  EXPECT_EQ(claim(kFirst), KeyClaim::ours);
  EXPECT_EQ(known(), fingerprint(kFirst));
  EXPECT_EQ(claim(kSecond), KeyClaim::anothers) << "nothing is sealed";
  EXPECT_EQ(known(), fingerprint(kFirst));
  seal(tenant(), kFirstVault, "A");
  refuses(kSecond, fingerprint(kFirst));
  EXPECT_EQ(known(), fingerprint(kFirst));
}

TEST_F(MasterKey, OfTwoThatStartTogetherOneIsTaken) {
  for (int round = 0; round < 5; ++round) {
    run(database->run([](pqxx::work& tx) {
      tx.exec(
          "UPDATE installation SET master_key = "
          "'unknown'");
    }));
    std::atomic<int> taken = 0;
    const auto start = [&](const Secret& key) {
      return std::jthread([&, key] {
        if (claim(key) == KeyClaim::ours) ++taken;
      });
    };
    { const auto one = start(kFirst), other = start(kSecond); }
    EXPECT_EQ(taken, 1);
  }
}

TEST_F(MasterKey, IsTriedOnWhatWasSealedBeforeItWasKnown) {
  const TenantId owner = tenant();
  const std::vector<std::function<void()>> seal{
      [&] {
        run(DeploymentStore(*database, kFirstVault)
                .put(
                    {.name = "d", .provider = "e2b", .credentials = Credentials{}}, [](auto&) {},
                    kStranger));
      },
      [&] { run(SecretStore(*database, kFirstVault).put(owner, "S", Secret("v"), kStranger)); },
      [&] {
        run(WebhookStore(*database, kFirstVault)
                .put({.name = "w",
                      .url = "https://example.com",
                      .secret = Secret("s"),
                      .types = {"*"}},
                     kStranger));
      },
      [&] {
        ExportRow row{.name = "x", .kind = "webhook", .settings = Json::object()};
        row.secrets.emplace("secret", Secret("s"));
        run(database->run([=](pqxx::work& tx) { export_rows::write(tx, kFirstVault, row); }));
      }};
  for (const auto& one : seal) {
    one();
    refuses(kSecond, "unknown");
    EXPECT_EQ(known(), std::nullopt);
    EXPECT_EQ(claim(kFirst), KeyClaim::ours);
    EXPECT_EQ(known(), fingerprint(kFirst));
    run(database->run([](pqxx::work& tx) {
      tx.exec(
          "UPDATE installation SET master_key = 'unknown'; DELETE FROM deployment; DELETE FROM "
          "secret; DELETE FROM webhook; DELETE FROM export");
    }));
  }
}

TEST_F(MasterKey, OneOfSeveralThatSealedHereWillDo) {
  const TenantId owner = tenant();
  seal(owner, kFirstVault, "A");
  seal(owner, Cipher(kSecond), "B");
  EXPECT_EQ(claim(kFirst), KeyClaim::ours);
  EXPECT_EQ(claim(kSecond), KeyClaim::anothers);
  refuses(Secret(std::string(32, 'c')), fingerprint(kFirst));
}

TEST_F(MasterKey, ALostOneIsGivenUpByName) {
  claim(kFirst);
  seal(tenant(), kFirstVault, "A");
  EXPECT_EQ(test::code_of([&] { claim(kSecond, "unknown"); }), ErrorCode::conflict);
  EXPECT_EQ(test::code_of([&] { claim(kSecond, fingerprint(kSecond)); }), ErrorCode::conflict);
  EXPECT_EQ(claim(kSecond, fingerprint(kFirst)), KeyClaim::given_up);
  EXPECT_EQ(known(), fingerprint(kSecond));
  // Left in the settings it lets no third one in.
  const Secret third(std::string(32, 'c'));
  refuses(third, fingerprint(kSecond));
  EXPECT_EQ(test::code_of([&] { claim(third, fingerprint(kFirst)); }), ErrorCode::conflict);
}

TEST_F(MasterKey, IsNotMadeForADatabaseThatIsSealed) {
  Config config;
  config.database.url = database.url();
  EXPECT_NO_THROW(check_key_is_wanted(config));
  claim(kFirst);
  EXPECT_NO_THROW(check_key_is_wanted(config)) << "nothing is sealed";
  seal(tenant(), kFirstVault, "A");
  EXPECT_EQ(test::code_of([&] { check_key_is_wanted(config); }), ErrorCode::conflict);
  config.database.url = "host=/nonexistent user=sandgate dbname=sandgate";
  EXPECT_NO_THROW(check_key_is_wanted(config)) << "it may come later";
  test::TestDatabase empty(test::TestDatabase::Schema::empty);
  config.database.url = empty.url();
  EXPECT_NO_THROW(check_key_is_wanted(config));
}

}  // namespace
}  // namespace sandgate
