#pragma once
#include <gtest/gtest.h>

#include "billing/usage/meter.hpp"
#include "gateway/exports/export_runner.hpp"
#include "gateway/exports/export_store.hpp"
#include "tests/exports/receiver.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {

// An export "out" to a receiver of its own, and usage of one tenant to send.
class ExportsFixture : public ::testing::Test {
 protected:
  Json settings(Json customers) {
    return {{"url", receiver.url()},
            {"allow_private", true},
            {"customers", std::move(customers)},
            {"meters", {{"vcpu_second", "vcpu_seconds"}, {"disk_gib_second", "no_such_meter"}}}};
  }
  void put(Json wanted, const std::string& kind = "stripe",
           ExportSecrets secrets = {{"api_key", Secret("sk_test_fake")}}) {
    ExportStore::Draft draft{.name = "out", .kind = kind, .settings = std::move(wanted)};
    draft.secrets = std::move(secrets);
    draft.since = from_rfc3339("2000-01-01T00:00:00Z");
    run(store.put(draft, {}));
  }
  // A sandbox that ran for so long, about `ago`; up to 14 minutes are one interval.
  void use(std::chrono::seconds duration, std::chrono::seconds ago = std::chrono::minutes(30),
           int64_t disk_gib = 0) {
    const std::string id = SandboxId::make().value;
    using Quarters = std::chrono::duration<int64_t, std::ratio<900>>;
    const Time start = std::chrono::floor<Quarters>(clock.now() - ago) + std::chrono::minutes(1);
    run(database->run([&](pqxx::work& tx) {
      tx.exec_params(
          "INSERT INTO metered_sandbox (sandbox, tenant, profile, profile_version, deployment,"
          " provider, region, state, milli_vcpu, memory_mib, disk_gib, opened_at, boundary,"
          " observed_at) SELECT $1, $2, 'python', 1, 'local', 'local', 'local', 'running', 333, 0,"
          " $4, t, t, t FROM (SELECT $3::timestamptz AS t) x",
          id, tenant.value, to_rfc3339(start), disk_gib);
      meter.close(tx, SandboxId{id}, start + duration);
    }));
  }
  ExportRow row() { return run(store.get("out")); }
  // Rounds until nothing moves; waits that a failure imposed are over at once.
  void drain() {
    for (int rounds = 0; rounds < 20; ++rounds) {
      run(database->run([](pqxx::work& tx) { tx.exec("UPDATE export SET next_try_at = now()"); }));
      if (run(runner.run_once()) == 0 && row().error.empty()) return;
    }
  }
  // What the receiver has, added up.
  Decimal received() {
    Decimal sum;
    const Json state = receiver.state();
    for (const Json& event : state["taken"])
      sum += Decimal::parse(event["payload"]["value"].get<std::string>()).value();
    return sum;
  }
  Decimal used() {
    return run(database->run([](pqxx::work& tx) {
      return Decimal::from_sql(
          tx.exec1("SELECT sum(quantity) FROM usage_event WHERE meter = 'vcpu_second'")[0].c_str());
    }));
  }

  TestDatabase database;
  Receiver receiver;
  TenantId tenant = TenantId::make();
  Cipher cipher{Secret(std::string(32, 'k'))};
  SystemClock clock;
  CurlClient http;
  PriceBooks books{*database};
  Meter meter{books};
  ExportStore store{*database, cipher};
  ExportRunner runner{*database, cipher, http, clock};
};

}  // namespace sandgate::test
