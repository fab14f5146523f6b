// Usage events per second into PostgreSQL, what a budget adds to a create at 50 a second, and a
// report over the sums of ten million events. Prints one JSON line per figure. Usage: billing_bench
// [SANDBOXES [SECONDS]]: how many are metered, and for how long at least without a pause.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "billing/budgets/budget_store.hpp"
#include "billing/budgets/budgets.hpp"
#include "billing/prices/shipped_prices.hpp"
#include "billing/usage/meter.hpp"
#include "billing/usage/usage_query.hpp"
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

struct SetClock : Clock {
  Time value = SystemClock().now();
  Time now() const override { return value; }
};

// A minute of every sandbox is due at once, again and again.
void measure_events(test::TestDatabase& database, PriceBooks& books, int sandboxes, int seconds) {
  fill(*database, sandboxes);
  SetClock clock;
  Meter meter(books, &clock);
  size_t events = 0;
  int64_t ms = 0;
  do {
    ms += timed<Milliseconds>([&] { events += test::run(meter.flush(*database)); });
    clock.value += std::chrono::minutes(1);
  } while (ms < int64_t{seconds} * 1000);
  const auto row = test::run(database->run_within(std::chrono::minutes(1), [](pqxx::work& tx) {
    return tx.exec1("SELECT count(*), (SELECT sum(events) FROM usage_rollup) FROM usage_event");
  }));
  std::printf(
      "{\"name\":\"usage_events_per_second\",\"events\":%zu,\"ms\":%lld,\"rows\":%lld,"
      "\"in_sums\":%lld,\"value\":%lld}\n",
      events, static_cast<long long>(ms), row[0].as<long long>(), row[1].as<long long>(),
      static_cast<long long>(events) * 1000 / std::max<int64_t>(ms, 1));
}

constexpr size_t kCreates = 500;
constexpr std::chrono::milliseconds kBetweenCreates{20};  // 50 a second

void print_quantiles(const char* name, std::vector<int64_t> micros) {
  std::sort(micros.begin(), micros.end());
  std::printf("{\"name\":\"%s\",\"p50\":%lld,\"p99\":%lld}\n", name,
              static_cast<long long>(micros[micros.size() / 2]),
              static_cast<long long>(micros[micros.size() * 99 / 100]));
}

// What the reservation takes inside the transactions of a create, 50 of them a second: the one that
// writes the intention, and the one that knows where it runs at which price.
void measure_reservation(test::TestDatabase& database, PriceBooks& books, bool with_budget) {
  const TenantId tenant = TenantId::make();
  Budgets budgets(books);
  BudgetStore store(*database, budgets);
  test::run(database->run([&](pqxx::work& tx) {
    tx.exec_params("INSERT INTO tenant (id, name) VALUES ($1, 'bench')", tenant.value);
  }));
  if (with_budget)
    test::run(store.put(budget_from(
        parse_json(R"({"amount":"1000000","currency":"USD","window":"month","timezone":"UTC"})"),
        tenant, "all")));
  std::vector<int64_t> reserving, placing;
  auto next = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kCreates; ++i) {
    std::this_thread::sleep_until(next += kBetweenCreates);
    const PlannedSpending planned{tenant, SandboxId::make(), Money{Decimal(1), "USD"},
                                  std::chrono::seconds(600)};
    bool reserved = false;
    test::run(database->run([&](pqxx::work& tx) {
      reserving.push_back(timed<Microseconds>([&] { reserved = budgets.reserve(tx, planned); }));
    }));
    test::run(database->run([&](pqxx::work& tx) {
      placing.push_back(timed<Microseconds>([&] {
        if (reserved) budgets.adjust(tx, planned);
      }));
    }));
  }
  print_quantiles(with_budget ? "reserve_us_with_budget" : "reserve_us_without_budget", reserving);
  if (with_budget) print_quantiles("adjust_us", placing);
}

// The sums of ten million events: 50 tenants, 30 days, 3 profiles, 3 meters, 16 shards of writers.
void fill_rollups(test::TestDatabase& database) {
  test::run(database->run_within(std::chrono::minutes(5), [](pqxx::work& tx) {
    tx.exec(
        "INSERT INTO usage_rollup SELECT 'tn' || lpad(t::text, 24, '0'), current_date - d,"
        " 'profile' || p, 'local', 'local', m, 'USD', 'USD', s, 1, 1, 1, 10000000 / 216000"
        " FROM generate_series(1, 50) t, generate_series(0, 29) d, generate_series(1, 3) p,"
        " unnest(ARRAY['vcpu_second', 'memory_gib_second', 'disk_gib_second']) m,"
        " generate_series(0, 15) s");
    tx.exec("ANALYZE usage_rollup");
  }));
}

void measure_query(test::TestDatabase& database) {
  fill_rollups(database);
  UsageQuery query{.group_by = {"tenant", "day"}};
  query.from = std::chrono::floor<std::chrono::days>(SystemClock().now()) - std::chrono::days(29);
  for (const bool one_tenant : {true, false}) {
    if (one_tenant) query.tenant = TenantId{"tn" + std::string(23, '0') + "7"};
    if (!one_tenant) query.tenant.reset();
    std::vector<int64_t> micros;
    for (int i = 0; i < 9; ++i)
      micros.push_back(timed<Microseconds>([&] {
        test::run(database->run_within(std::chrono::minutes(1),
                                       [&](pqxx::work& tx) { read_usage(tx, query); }));
      }));
    print_quantiles(one_tenant ? "usage_query_us_one_tenant" : "usage_query_us_all_tenants",
                    micros);
  }
}

}  // namespace
}  // namespace sandgate

int main(int argc, char** argv) {
  using namespace sandgate;
  test::TestDatabase database;
  PriceBooks books(*database);
  test::run(seed_prices(*database));
  measure_events(database, books, argc > 1 ? std::atoi(argv[1]) : 20'000,
                 argc > 2 ? std::atoi(argv[2]) : 1);
  measure_reservation(database, books, false);
  measure_reservation(database, books, true);
  measure_query(database);
}
