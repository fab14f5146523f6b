// Usage events per second into PostgreSQL, and what a budget adds to a create. Prints one JSON
// line per figure. Usage: billing_bench [SANDBOXES]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "billing/budget_store.hpp"
#include "billing/budgets.hpp"
#include "billing/meter.hpp"
#include "billing/shipped_prices.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using Milliseconds = std::chrono::duration<int64_t, std::milli>;
using Microseconds = std::chrono::duration<int64_t, std::micro>;

template <class Duration, class Work>
int64_t timed(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begin).count();
}

// Running sandboxes of 50 tenants, last booked 90 seconds ago.
void fill(Database& database, int sandboxes) {
  test::run(database.run_within(std::chrono::minutes(5), [&](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO metered_sandbox (sandbox, tenant, profile, profile_version, deployment,"
        " provider, region, state, milli_vcpu, memory_mib, disk_gib, opened_at, boundary,"
        " observed_at) SELECT 'sb' || lpad(n::text, 24, '0'), 'tn' || lpad((n % 50)::text, 24, "
        "'0'),"
        " 'python', 1, 'local', 'local', 'local', 'running', 1000, 512, 2, t, t, t"
        " FROM generate_series(1, $1) n, (SELECT clock_timestamp() - interval '90 s' AS t) x",
        sandboxes);
  }));
}

void measure_events(test::TestDatabase& database, PriceBooks& books, int sandboxes) {
  fill(*database, sandboxes);
  Meter meter(books);
  size_t events = 0;
  const int64_t ms = timed<Milliseconds>([&] { events = test::run(meter.flush(*database)); });
  std::printf("{\"name\":\"usage_events_per_second\",\"events\":%zu,\"value\":%lld}\n", events,
              static_cast<long long>(events) * 1000 / std::max<int64_t>(ms, 1));
}

void measure_reservation(test::TestDatabase& database, PriceBooks& books, bool with_budget) {
  const TenantId tenant = TenantId::make();
  Budgets budgets(books);
  BudgetStore store(*database);
  if (with_budget)
    test::run(store.put(budget_from(
        parse_json(R"({"amount":"1000000","currency":"USD","window":"month"})"), tenant, "all")));
  std::vector<int64_t> micros;
  test::run(database->run_within(std::chrono::minutes(1), [&](pqxx::work& tx) {
    for (int i = 0; i < 1000; ++i)
      micros.push_back(timed<Microseconds>([&] {
        budgets.reserve(
            tx, {tenant, SandboxId::make(), Money{Decimal(1), "USD"}, std::chrono::seconds(600)});
      }));
  }));
  std::sort(micros.begin(), micros.end());
  std::printf("{\"name\":\"reserve_us_%s\",\"p50\":%lld,\"p99\":%lld}\n",
              with_budget ? "with_budget" : "without_budget", static_cast<long long>(micros[500]),
              static_cast<long long>(micros[990]));
}

}  // namespace
}  // namespace sandgate

int main(int argc, char** argv) {
  using namespace sandgate;
  test::TestDatabase database;
  PriceBooks books(*database);
  test::run(seed_prices(*database));
  measure_events(database, books, argc > 1 ? std::atoi(argv[1]) : 20'000);
  measure_reservation(database, books, false);
  measure_reservation(database, books, true);
}
