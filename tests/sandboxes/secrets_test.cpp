#include "registry/secret_store.hpp"

#include <gtest/gtest.h>

#include "gateway/sandboxes/secret_keeper.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate {
namespace {

using test::run;

const Actor kSomebody{.key_id = "kyx", .key_name = "t", .role = "developer", .request_id = "rqx"};
const std::vector<SecretBinding> kBindings{{"KEY_A", "a.example", "Authorization"},
                                           {"KEY_B", "b.example", "X-Key"}};

struct SandboxSecretsTest : testing::Test {
  void put(const std::string& name, const std::string& value) {
    run(store.put(world.tenant, name, Secret(value), kSomebody));
  }
  SecretGrants bind(const SandboxId& id) {
    auto work = [&](pqxx::work& tx) {
      return sandbox_secrets::bind(tx, vault, world.tenant, id.value, kBindings);
    };
    return run(world.database->run(work));
  }
  SecretGrants grants(const SandboxId& id) {
    auto work = [&](pqxx::work& tx) { return sandbox_secrets::grants_of(tx, vault, id.value); };
    return run(world.database->run(work));
  }
  std::string revision(const SandboxId& id) {
    auto work = [&](pqxx::work& tx) { return sandbox_secrets::revisions_of(tx, {id.value}); };
    const auto found = run(world.database->run(work));
    return found.contains(id.value) ? found.at(id.value) : "";
  }

  test::World world;
  Vault vault{Secret(std::string(32, 'k'))};
  SecretStore store{*world.database, vault};
};

TEST_F(SandboxSecretsTest, ValuesAreSealedAndListedByName) {
  put("KEY_A", "hunter2-value");
  put("KEY_B", "other");
  const auto rows = run(store.list(world.tenant, "", 10));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "KEY_A");
  EXPECT_EQ(run(store.list(world.tenant, "KEY_A", 10)).at(0).name, "KEY_B");
  EXPECT_EQ(world.sql("SELECT (SELECT count(*) FROM secret WHERE "
                      "position('hunter2' in encode(value, 'escape')) > 0) + (SELECT count(*) "
                      "FROM audit_entry t WHERE t::text LIKE '%hunter2%')"),
            "0");
  EXPECT_EQ(world.sql("SELECT count(*) FROM audit_entry WHERE action = 'secret.put'"), "2");
  EXPECT_TRUE(run(store.list(TenantId::make(), "", 10)).empty());
}

TEST_F(SandboxSecretsTest, PlaceholdersStandForWhatTheValuesAreNow) {
  put("KEY_A", "first");
  put("KEY_B", "second");
  const SandboxRecord box = world.create();
  const SecretGrants bound = bind(box.id);
  ASSERT_EQ(bound.grants.size(), 2u);
  EXPECT_EQ(bound.grants[0].value.reveal(), "first");
  EXPECT_EQ(bound.grants[1].header, "X-Key");
  EXPECT_NE(bound.grants[0].placeholder, bound.grants[1].placeholder);
  EXPECT_EQ(revision(box.id), bound.revision);
  put("KEY_A", "third");
  const SecretGrants after = grants(box.id);
  EXPECT_EQ(after.grants[0].value.reveal(), "third");
  EXPECT_EQ(after.grants[0].placeholder, bound.grants[0].placeholder);
  EXPECT_NE(after.revision, bound.revision);
  EXPECT_EQ(revision(box.id), after.revision);
  run(store.remove(world.tenant, "KEY_A", kSomebody));
  EXPECT_EQ(grants(box.id).grants.at(0).name, "KEY_B");
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(revision(box.id), "");
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox_secret"), "0");
}

TEST_F(SandboxSecretsTest, ASecretThatIsNotThereIsNamed) {
  put("KEY_A", "first");
  const SandboxRecord box = world.create();
  try {
    bind(box.id);
    ADD_FAILURE() << "bound";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    EXPECT_EQ(error.fields.at(0).path, "/secrets/1");
  }
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox_secret"), "0");
}

TEST_F(SandboxSecretsTest, AnotherKeyOrRowOpensNothing) {
  put("KEY_A", "first");
  put("KEY_B", "second");
  const SandboxRecord box = world.create();
  bind(box.id);
  world.sql(
      "UPDATE secret s SET value = o.value FROM secret o WHERE s.name = 'KEY_A' AND "
      "o.name = 'KEY_B' RETURNING 1");
  EXPECT_THROW(grants(box.id), Error);
}

}  // namespace
}  // namespace sandgate
