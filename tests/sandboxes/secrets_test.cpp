#include "registry/secret_store.hpp"

#include <gtest/gtest.h>

#include "gateway/sandboxes/snapshots.hpp"
#include "gateway/sandboxes/upkeep/secret_reconciler.hpp"
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
      return sandbox_secrets::bind(tx, cipher, world.tenant, id.value, kBindings,
                                   sandbox_secrets::OnMissing::refused)
          .grants;
    };
    return run(world.database->run(work));
  }
  SecretGrants grants(const SandboxId& id) {
    auto work = [&](pqxx::work& tx) { return sandbox_secrets::grants_of(tx, cipher, id.value); };
    return run(world.database->run(work));
  }
  // With secrets that backends can put in.
  SandboxRecord create_with_secrets() {
    Descriptor able = test::FakeProvider::capable("a");
    able.controls.insert(Control::secret_injection);
    world.a->offer(able);
    run(world.replica.deployments.reload());
    return world.create(lists_both);
  }
  Outcome<SandboxRecord> fork(const SandboxRecord& box) {
    return run(snapshots.fork(box, world.order(lists_both), 1)).at(0);
  }
  static void lists_both(Profile& profile) { profile.secrets = kBindings; }
  std::string revision(const SandboxId& id) {
    auto work = [&](pqxx::work& tx) { return sandbox_secrets::revisions_of(tx, {id.value}); };
    const auto found = run(world.database->run(work));
    return found.contains(id.value) ? found.at(id.value) : "";
  }

  test::World world;
  Cipher cipher{Secret(std::string(32, 'k'))};
  SecretStore store{*world.database, cipher};
  Snapshots snapshots{world.replica.lifecycle};
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

TEST_F(SandboxSecretsTest, ACopyIsMadeWithoutTheValueOfASecretThatWasRemoved) {
  put("KEY_A", "first");
  put("KEY_B", "second");
  const SandboxRecord box = create_with_secrets();
  run(store.remove(world.tenant, "KEY_A", kSomebody));
  EXPECT_EQ(test::code_of([&] { world.create(lists_both); }), ErrorCode::invalid);
  const auto outcome = fork(box);
  ASSERT_TRUE(std::holds_alternative<SandboxRecord>(outcome)) << std::get<Error>(outcome).what();
  const SandboxRecord copy = std::get<SandboxRecord>(outcome);
  const CreateSpec made = world.a->last_spec();
  ASSERT_EQ(made.secrets.grants.size(), 1u);
  EXPECT_EQ(made.secrets.grants[0].name, "KEY_B");
  ASSERT_TRUE(made.env.contains("KEY_A")) << "as in the sandbox that it is a copy of";
  put("KEY_A", "anew");
  EXPECT_EQ(grants(copy.id).grants.at(0).placeholder, made.env.at("KEY_A"));
  EXPECT_EQ(grants(copy.id).grants.at(0).value.reveal(), "anew");
}

TEST_F(SandboxSecretsTest, ACopyHasAPlaceForSecretsAlsoWhenAllWereRemoved) {
  put("KEY_A", "first");
  put("KEY_B", "second");
  const SandboxRecord box = create_with_secrets();
  for (const char* name : {"KEY_A", "KEY_B"}) run(store.remove(world.tenant, name, kSomebody));
  const auto outcome = fork(box);
  ASSERT_TRUE(std::holds_alternative<SandboxRecord>(outcome)) << std::get<Error>(outcome).what();
  const CreateSpec made = world.a->last_spec();
  EXPECT_TRUE(made.secrets.grants.empty());
  EXPECT_TRUE(made.uses_secrets);
  EXPECT_TRUE(made.env.contains("KEY_A") && made.env.contains("KEY_B"));
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
