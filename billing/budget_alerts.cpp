#include "billing/budget_alerts.hpp"

namespace sandgate {
namespace {

constexpr int kAlertsAtOnce = 100;
// Any constant of its own: who passes alerts on does so alone.
constexpr const char* kAlertLock = "SELECT pg_advisory_xact_lock(7306086894398169450)";

}  // namespace

Task<size_t> BudgetAlerts::pass_on() {
  auto work = [sink = sink_](pqxx::work& tx) {
    tx.exec(kAlertLock);
    const auto rows = tx.exec_params(
        "SELECT id, tenant, type, data, (extract(epoch FROM at) * 1000000)::bigint AS at_micros"
        " FROM budget_event e WHERE at > now() - interval '7 days'"
        " AND NOT EXISTS (SELECT FROM budget_event_told t WHERE t.event = e.id)"
        " ORDER BY id LIMIT $1",
        kAlertsAtOnce);
    for (const auto& row : rows) {
      const BudgetAlert alert{.id = row["id"].as<int64_t>(),
                              .tenant = TenantId{row["tenant"].as<std::string>()},
                              .type = row["type"].as<std::string>(),
                              .data = Json::parse(row["data"].c_str()),
                              .at = from_micros(row["at_micros"].as<int64_t>())};
      sink(tx, alert);
      tx.exec_params("INSERT INTO budget_event_told (event) VALUES ($1)", alert.id);
    }
    return static_cast<size_t>(rows.size());
  };
  co_return co_await database_.run(std::move(work));
}

}  // namespace sandgate
