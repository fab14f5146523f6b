#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

class Immutability : public test::BillingFixture {
 protected:
  void SetUp() override {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.001"}]})");
    const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
    clock.advance(100s);
    close(id);
  }
  // Why a statement fails; empty when it does not.
  std::string failure(const std::string& sql, const std::string& role = "") {
    pqxx::connection connection(database.url());
    pqxx::work tx(connection);
    try {
      if (!role.empty()) tx.exec("SET LOCAL ROLE " + role);
      tx.exec(sql);
      return "";
    } catch (const pqxx::sql_error& error) {
      return error.what();
    }
  }
};

constexpr const char* kRewrites[] = {
    "UPDATE usage_event SET charge = 0",
    "DELETE FROM usage_event",
    "UPDATE price_entry SET unit_price = 0",
    "DELETE FROM price_version",
    "UPDATE ledger_entry SET debit = debit + 1 WHERE debit > 0",
    "DELETE FROM ledger_transfer",
    "UPDATE budget_event SET data = '{}'",
    "TRUNCATE usage_event",
    "TRUNCATE ledger_entry",
    "TRUNCATE price_entry",
    "TRUNCATE reconciliation",
    "TRUNCATE loss_event",
    "TRUNCATE budget_event",
    "TRUNCATE invoice_payment",
};

TEST_F(Immutability, FactsAreNotRewrittenByTheirOwner) {
  EXPECT_EQ(failure("SELECT sum(charge) FROM usage_event"), "") << "reading is allowed";
  for (const char* sql : kRewrites) {
    // An empty table has nothing to rewrite, and a row trigger nothing to say.
    if (std::string(sql).starts_with("UPDATE budget_event")) continue;
    EXPECT_NE(failure(sql), "") << sql;
  }
}

TEST_F(Immutability, EveryTableWhoseRowsStayCannotBeEmptiedEither) {
  EXPECT_EQ(rows("SELECT r.tgrelid::regclass FROM pg_trigger r"
                 " JOIN pg_proc p ON p.oid = r.tgfoid AND p.proname = 'refuse_rewriting'"
                 " WHERE r.tgparentid = 0 AND NOT EXISTS (SELECT FROM pg_trigger t"
                 "   WHERE t.tgrelid = r.tgrelid AND t.tgtype & 32 <> 0)"),
            std::vector<std::string>());
}

TEST_F(Immutability, NorByAnotherRoleThatMayWriteEverywhereElse) {
  const std::string role = "clerk" + std::to_string(getpid());
  run(database->run([&](pqxx::work& tx) {
    tx.exec("CREATE ROLE " + role);
    tx.exec("GRANT USAGE ON SCHEMA public TO " + role);
    tx.exec("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
  }));
  EXPECT_EQ(failure("UPDATE metered_sandbox SET profile = profile", role), "") << "it may write";
  // Even with every right granted the triggers stand.
  for (const char* sql : kRewrites) {
    if (std::string(sql).starts_with("UPDATE budget_event")) continue;
    EXPECT_NE(failure(sql, role), "") << sql;
  }
  run(database->run([&](pqxx::work& tx) {
    tx.exec("DROP OWNED BY " + role);
    tx.exec("DROP ROLE " + role);
  }));
}

TEST_F(Immutability, NoPriceJoinsAVersionThatIsPublished) {
  const std::string join =
      "INSERT INTO price_entry (version_id, provider, meter, unit_price)"
      " SELECT max(id), 'acme', 'egress_gib', 1 FROM price_version";
  EXPECT_NE(failure(join).find("are fixed"), std::string::npos);
  const std::string publish =
      "INSERT INTO price_version (book, version, kind, currency, effective_from)"
      " VALUES ('list', 2, 'cost', 'USD', now());";
  EXPECT_EQ(failure(publish + join), "") << "with the version itself";
}

TEST_F(Immutability, AnEventUnderAnIdThatIsNotItsOwnIsRefused) {
  const std::string sql =
      "INSERT INTO usage_event (id, interval_start, interval_end, sandbox, tenant, profile,"
      " profile_version, deployment, provider, region, meter, quantity, quantity_before, cost,"
      " cost_currency, charge, charge_currency) SELECT gen_random_uuid(), interval_start,"
      " interval_end, sandbox, tenant, profile, profile_version, deployment, provider, region,"
      " meter, quantity, quantity_before, cost, cost_currency, charge, charge_currency"
      " FROM usage_event LIMIT 1";
  EXPECT_NE(failure(sql).find("usage_event_derived_id"), std::string::npos);
}

TEST_F(Immutability, ATransferThatDoesNotBalanceIsRefused) {
  const std::string sql =
      "INSERT INTO ledger_transfer (currency, reason) VALUES ('USD', 'odd');"
      " INSERT INTO ledger_entry (transfer, position, account, debit)"
      " SELECT max(id), 1, 'cost', 1 FROM ledger_transfer;"
      " SET CONSTRAINTS ALL IMMEDIATE";
  EXPECT_NE(failure(sql).find("does not balance"), std::string::npos);
}

}  // namespace
}  // namespace sandgate
