#include "gateway/app/accounting.hpp"

#include "billing/ledger/ledger_rollup.hpp"
#include "billing/usage/partitions.hpp"
#include "gateway/app/background.hpp"

namespace sandgate {

Accounting::Accounting(Foundation& below)
    : foundation(below),
      prices(below.database),
      meter(prices, nullptr, below.config.billing.most_egress_gbit_per_second),
      usage(below.database, meter),
      budgets(prices),
      budget_rows(below.database, budgets),
      invoices(below.database),
      export_rows(below.database, below.cipher),
      exports(below.database, below.cipher, below.curl, below.clock,
              below.config.webhooks.allow_private) {}

void Accounting::subscribe() {
  foundation.notifications.subscribe("prices", [this](const std::string&) { reload(); });
}

void Accounting::start() {
  using std::chrono::seconds;
  repeat(foundation.executor(), "metering", seconds(10),
         [this]() -> Task<void> { co_await meter.flush(foundation.database); });
  repeat(foundation.executor(), "ends", seconds(1),
         [this]() -> Task<void> { co_await meter.book_ends(foundation.database); });
  keep_running(foundation.executor(), "exports", [this] { return exports.run(); });
  repeat(foundation.executor(), "partitions", std::chrono::hours(6),
         [this]() -> Task<void> { co_await create_usage_partitions(foundation.database); });
  repeat_until_none(foundation.executor(), "closing", std::chrono::hours(1),
                    [this] { return roll_up_ledger(foundation.database); });
  repeat(foundation.executor(), "prices", seconds(60), [this] { return prices.load(); });
}

void Accounting::reload() {
  spawn_detached(foundation.executor(),
                 [this]() -> Task<void> { co_await attempt(prices.load()); });
}

void Accounting::render(MetricText& out) const {
  out.counter("sandgate_usage_conflicts_total", "Usage that contradicts what is booked.",
              meter.conflicts());
  out.counter("sandgate_implausible_counters_total",
              "Readings of what backends count that say more than can be.", meter.implausible());
}

}  // namespace sandgate
