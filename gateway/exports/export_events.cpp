#include "gateway/exports/export_events.hpp"

#include "billing/invoice_rows.hpp"
#include "billing/price_rows.hpp"

namespace sandgate {
namespace {

constexpr const char* kEventColumns =
    "e.sequence, e.id, e.tenant, e.sandbox, e.deployment, e.provider, e.region, e.profile, e.meter,"
    " trim_scale(e.quantity) AS quantity, trim_scale(e.quantity_before) AS quantity_before,"
    " (extract(epoch FROM e.interval_start) * 1000000)::bigint AS start_micros,"
    " (extract(epoch FROM e.interval_end) * 1000000)::bigint AS end_micros,"
    " trim_scale(e.cost) AS cost, e.cost_currency, trim_scale(e.charge) AS charge,"
    " e.charge_currency ";

std::vector<ExportEvent> events_from(const pqxx::result& rows) {
  std::vector<ExportEvent> events;
  for (const auto& row : rows) {
    const auto text = [&](const char* name) { return row[name].as<std::string>(); };
    events.push_back({.sequence = row["sequence"].as<int64_t>(),
                      .row = {.id = text("id"),
                              .tenant = text("tenant"),
                              .sandbox = text("sandbox"),
                              .deployment = text("deployment"),
                              .provider = text("provider"),
                              .region = text("region"),
                              .profile = text("profile"),
                              .meter = text("meter"),
                              .quantity = text("quantity"),
                              .interval_start = from_micros(row["start_micros"].as<int64_t>()),
                              .interval_end = from_micros(row["end_micros"].as<int64_t>()),
                              .cost = text("cost"),
                              .cost_currency = text("cost_currency"),
                              .charge = text("charge"),
                              .charge_currency = text("charge_currency")},
                      .quantity_before = text("quantity_before")});
  }
  return events;
}

}  // namespace

int64_t booked_through(pqxx::work& tx) {
  hold_publishing(tx);
  return last_sequence(tx);
}

std::vector<ExportEvent> read_export_events(pqxx::work& tx, int64_t after, int64_t through) {
  return events_from(tx.exec_params("SELECT " + std::string(kEventColumns) +
                                        "FROM usage_event e WHERE sequence > $1 AND sequence <= $2"
                                        " ORDER BY sequence",
                                    after, through));
}

std::vector<ExportEvent> read_retries(pqxx::work& tx, const std::string& name, int64_t limit) {
  return events_from(
      tx.exec_params("SELECT " + std::string(kEventColumns) +
                         "FROM export_dead_letter d JOIN usage_event e"
                         " ON e.interval_start = d.interval_start AND e.id = d.event"
                         " WHERE d.export = $1 AND d.retry ORDER BY e.sequence LIMIT $2",
                     name, limit));
}

int64_t sequence_before(pqxx::work& tx, const std::string& since) {
  const auto row = tx.exec_params1(
      "SELECT min(sequence) - 1 FROM usage_event WHERE interval_start >= $1::timestamptz", since);
  return row[0].is_null() ? booked_through(tx) : row[0].as<int64_t>();
}

}  // namespace sandgate
