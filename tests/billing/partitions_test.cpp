#include "billing/usage/partitions.hpp"

#include "gateway/core/settle.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

using Lines = std::vector<std::string>;

// In a database of one's own the role that Sandgate is given is no superuser.
class PartitionsOfAnOrdinaryOwner : public test::BillingFixture {
 protected:
  PartitionsOfAnOrdinaryOwner() : BillingFixture(test::TestDatabase::Owner::ordinary) {}

  void use_a_minute() {
    const auto sandbox = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
    clock.advance(60s);
    close(sandbox);
  }
  // Why a statement fails; empty when it does not.
  std::string failure(const std::string& sql) {
    const auto outcome = run(attempt(database->run([&](pqxx::work& tx) { tx.exec(sql); })));
    const auto* error = std::get_if<Error>(&outcome);
    return error ? error->what() : "";
  }
};

TEST_F(PartitionsOfAnOrdinaryOwner, AreMadeAndTakeOverWhatWaited) {
  ASSERT_EQ(rows("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"), Lines{"f"});
  clock.set("2031-03-15T00:00:00Z");
  use_a_minute();
  clock.set("2031-04-01T00:00:00Z");
  use_a_minute();
  ASSERT_EQ(rows("SELECT count(*) FROM usage_event_default"), Lines{"4"});
  EXPECT_EQ(rows("SELECT create_usage_partition('2031-03-01')"), Lines{"t"});
  EXPECT_EQ(rows("SELECT create_usage_partition('2031-03-01')"), Lines{"f"});
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event_2031_03"), Lines{"2"});
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event_default"), Lines{"2"});
  EXPECT_EQ(meters()["vcpu_second"], "120");
}

TEST_F(PartitionsOfAnOrdinaryOwner, AreMadeAhead) {
  EXPECT_EQ(run(create_usage_partitions(*database, 2)), 0) << "the schema begins with three";
  EXPECT_EQ(run(create_usage_partitions(*database, 5)), 3);
}

TEST_F(PartitionsOfAnOrdinaryOwner, LeaveItNoRightToRewriteUsage) {
  clock.set("2031-03-15T00:00:00Z");
  use_a_minute();
  rows("SELECT create_usage_partition('2031-03-01')");
  clock.set("2031-04-15T00:00:00Z");
  use_a_minute();
  for (const std::string table : {"usage_event", "usage_event_default", "usage_event_2031_03"}) {
    EXPECT_NE(failure("UPDATE " + table + " SET charge = 0"), "") << table;
    EXPECT_NE(failure("DELETE FROM " + table), "") << table;
    EXPECT_NE(failure("TRUNCATE " + table), "") << table;
    EXPECT_EQ(rows("SELECT has_table_privilege('" + table + "', 'UPDATE, DELETE, TRUNCATE')"),
              Lines{"f"})
        << table;
  }
  EXPECT_EQ(rows("SELECT tgenabled FROM pg_trigger WHERE NOT tgisinternal"
                 " AND tgrelid = 'usage_event_default'::regclass AND tgenabled <> 'O'"),
            Lines{})
      << "what refuses it is on again";
}

}  // namespace
}  // namespace sandgate
