#include "gateway/exports/export_events.hpp"

#include "billing/invoices/invoice_rows.hpp"

namespace sandgate {
namespace {

// Columns of `usage_event e`.
std::string event_columns() {
  return std::string(kUsageColumns) +
         ", e.sequence, trim_scale(e.quantity_before) AS quantity_before ";
}

std::vector<ExportEvent> events_from(const pqxx::result& rows) {
  std::vector<ExportEvent> events;
  for (const auto& row : rows)
    events.push_back({.sequence = row["sequence"].as<int64_t>(),
                      .row = usage_row_from(row),
                      .quantity_before = row["quantity_before"].as<std::string>()});
  return events;
}

}  // namespace

std::vector<ExportEvent> read_export_events(pqxx::work& tx, int64_t after, int64_t through) {
  return events_from(tx.exec_params("SELECT " + event_columns() +
                                        "FROM usage_event e WHERE sequence > $1 AND sequence <= $2"
                                        " ORDER BY sequence",
                                    after, through));
}

std::vector<ExportEvent> read_retries(pqxx::work& tx, const std::string& name, int64_t limit) {
  return events_from(
      tx.exec_params("SELECT " + event_columns() +
                         "FROM export_dead_letter d JOIN usage_event e"
                         " ON e.interval_start = d.interval_start AND e.id = d.event"
                         " WHERE d.export = $1 AND d.retry ORDER BY e.sequence LIMIT $2",
                     name, limit));
}

int64_t sequence_before(pqxx::work& tx, const std::string& since) {
  const auto row = tx.exec_params1(
      "SELECT min(sequence) - 1 FROM usage_event WHERE interval_start >= $1::timestamptz", since);
  return row[0].is_null() ? last_sequence(tx) : row[0].as<int64_t>();
}

}  // namespace sandgate
