#include "billing/usage/usage_query.hpp"

#include <algorithm>
#include <set>

#include "billing/currency.hpp"
#include "billing/sql_array.hpp"
#include "gateway/core/moment.hpp"
#include "gateway/core/sql_time.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxRows = 50'000;
constexpr std::string_view kMetadata = "metadata.";

bool is_whole_day(Time at) { return at == std::chrono::floor<std::chrono::days>(at); }

// The span with its defaults; `open` when it reaches to now, so that no upper limit is needed.
struct Span {
  Time from, to;
  bool open = false;
};

Span span_of(pqxx::work& tx, const UsageQuery& query) {
  const Time now = database_now(tx), to = query.to.value_or(now);
  Span span{query.from.value_or(month_of_end(to)), to};
  span.open = span.to >= now;
  if (span.to <= span.from && query.to) throw Error::invalid("/to", "must be after from");
  if (span.to < span.from) span.to = span.from;
  return span;
}

std::string column_of(pqxx::work& tx, const std::string& field, bool rollup) {
  if (field == "day") return rollup ? "day" : "(interval_start AT TIME ZONE 'UTC')::date";
  if (field.starts_with(kMetadata))
    return "m.metadata ->> " + tx.quote(field.substr(kMetadata.size()));
  return "u." + field;  // one of the fixed names: see is_usage_field
}

bool needs_events(const UsageQuery& query, const Span& span) {
  if (!is_whole_day(span.from) || !(span.open || is_whole_day(span.to))) return true;
  return std::any_of(query.group_by.begin(), query.group_by.end(), [](const std::string& field) {
    return field == "sandbox" || field.starts_with(kMetadata);
  });
}

std::string condition_of(pqxx::work& tx, const UsageQuery& query, const Span& span, bool rollup) {
  const auto time = [&](Time at) {
    const std::string text = tx.quote(to_rfc3339(at)) + "::timestamptz";
    return rollup ? "(" + text + " AT TIME ZONE 'UTC')::date" : text;
  };
  const std::string column = rollup ? "day" : "interval_start";
  std::string condition = column + " >= " + time(span.from);
  if (!span.open) condition += " AND " + column + " < " + time(span.to);
  if (query.tenant) condition += " AND tenant = " + tx.quote(query.tenant->value);
  return condition;
}

// The events as a subquery with the columns of booked usage.
std::string rows_of(pqxx::work& tx, const std::vector<UsageEvent>& events) {
  SqlArray sandbox, meter, start, quantity, cost, cost_currency, charge, charge_currency;
  for (const UsageEvent& event : events) {
    sandbox.add(event.sandbox.value);
    meter.add(to_string(event.meter));
    start.add(to_rfc3339(event.interval.from));
    quantity.add(event.quantity.to_string());
    cost.add(event.rated.cost.amount.to_string());
    cost_currency.add(event.rated.cost.currency);
    charge.add(event.rated.charge.amount.to_string());
    charge_currency.add(event.rated.charge.currency);
  }
  const auto array = [&](const SqlArray& values, const char* type) {
    return tx.quote(values.str()) + "::" + type + "[]";
  };
  return "(SELECT i.*, (interval_start AT TIME ZONE 'UTC')::date AS day, m.tenant, m.profile,"
         " m.deployment, m.provider FROM unnest(" +
         array(sandbox, "text") + ", " + array(meter, "text") + ", " + array(start, "timestamptz") +
         ", " + array(quantity, "numeric") + ", " + array(cost, "numeric") + ", " +
         array(cost_currency, "text") + ", " + array(charge, "numeric") + ", " +
         array(charge_currency, "text") +
         ") AS i (sandbox, meter, interval_start, quantity, cost, cost_currency, charge,"
         " charge_currency) JOIN metered_sandbox m USING (sandbox)) unbooked";
}

// The subquery of the usage in the span, of the tenant.
std::string source_of(pqxx::work& tx, const UsageQuery& query, const Span& span, bool rollup,
                      const std::vector<UsageEvent>& unbooked) {
  const std::string columns =
      "SELECT tenant, profile, deployment, provider, meter, quantity, cost, cost_currency, charge,"
      " charge_currency, " +
      std::string(rollup ? "day" : "interval_start, sandbox") + " FROM ";
  const std::string condition = " WHERE " + condition_of(tx, query, span, rollup);
  std::string source = columns + (rollup ? "usage_rollup" : "usage_event") + condition;
  if (!unbooked.empty()) source += " UNION ALL " + columns + rows_of(tx, unbooked) + condition;
  return "(" + source + ") u";
}

// One row per group, meter and pair of currencies.
pqxx::result select(pqxx::work& tx, const UsageQuery& query, const Span& span,
                    const std::vector<UsageEvent>& unbooked) {
  const bool rollup = !needs_events(query, span);
  std::string columns, positions;
  for (size_t i = 0; i < query.group_by.size(); ++i) {
    columns += column_of(tx, query.group_by[i], rollup) + ", ";
    positions += std::to_string(i + 1) + ", ";
  }
  const size_t next = query.group_by.size() + 1;
  for (size_t i = 0; i < 3; ++i) positions += std::to_string(next + i) + (i < 2 ? ", " : "");
  return tx.exec("SELECT " + columns +
                 "u.meter, cost_currency, charge_currency, sum(quantity) AS quantity,"
                 " sum(cost) AS cost, sum(charge) AS charge FROM " +
                 source_of(tx, query, span, rollup, unbooked) +
                 (columns.find("m.metadata") == std::string::npos
                      ? ""
                      : " JOIN metered_sandbox m USING (sandbox)") +
                 " GROUP BY " + positions + " ORDER BY " + positions + " LIMIT " +
                 std::to_string(kMaxRows + 1));
}

// Whether a row's quantities belong in a report in this currency: one of its amounts is in it, or
// it has no amount.
bool counts_in(const pqxx::row& row, const std::string& currency) {
  bool priced = false;
  for (const auto& [amount, of] :
       {std::pair("cost", "cost_currency"), std::pair("charge", "charge_currency")}) {
    if (Decimal::from_sql(row[amount].c_str()).is_zero()) continue;
    if (row[of].as<std::string>() == currency) return true;
    priced = true;
  }
  return !priced;
}

void add(UsageItem& item, const pqxx::row& row, const std::string& currency) {
  item.meters[row["meter"].as<std::string>()] += Decimal::from_sql(row["quantity"].c_str());
  if (row["cost_currency"].as<std::string>() == currency)
    item.cost += Decimal::from_sql(row["cost"].c_str());
  if (row["charge_currency"].as<std::string>() == currency)
    item.charge += Decimal::from_sql(row["charge"].c_str());
}

// Decides the report's currency from those that occur with an amount.
void choose_currency(UsageReport& report, const pqxx::result& rows,
                     const std::optional<std::string>& wanted) {
  std::set<std::string> seen;
  for (const auto& row : rows)
    for (const auto& [amount, currency] :
         {std::pair("cost", "cost_currency"), std::pair("charge", "charge_currency")})
      if (!Decimal::from_sql(row[amount].c_str()).is_zero())
        seen.insert(row[currency].as<std::string>());
  report.currency = report_currency(wanted, seen);
  seen.erase(report.currency);
  report.other_currencies.assign(seen.begin(), seen.end());
}

}  // namespace

bool is_usage_field(std::string_view name) {
  static constexpr std::string_view kFields[] = {"tenant", "profile", "deployment", "provider",
                                                 "meter",  "sandbox", "day"};
  if (std::find(std::begin(kFields), std::end(kFields), name) != std::end(kFields)) return true;
  return name.starts_with(kMetadata) && name.size() > kMetadata.size() && name.size() <= 128;
}

UsageReport read_usage(pqxx::work& tx, const UsageQuery& query,
                       const std::vector<UsageEvent>& unbooked) {
  for (const std::string& field : query.group_by)
    if (!is_usage_field(field))
      throw Error::invalid("/group_by", "'" + field + "' is not a field to group by");
  const Span span = span_of(tx, query);
  const auto rows = select(tx, query, span, unbooked);
  if (rows.size() > kMaxRows)
    throw Error::invalid("/group_by", "makes too many groups: ask for less or for a shorter time");
  UsageReport report{.from = span.from, .to = span.to};
  choose_currency(report, rows, query.currency);
  for (const auto& row : rows) {
    if (!counts_in(row, report.currency)) continue;
    std::vector<std::optional<std::string>> group;
    for (size_t i = 0; i < query.group_by.size(); ++i) {
      const auto field = row[static_cast<pqxx::row::size_type>(i)];
      group.push_back(field.is_null() ? std::nullopt : std::optional(field.as<std::string>()));
    }
    if (report.items.empty() || report.items.back().group != group)
      report.items.push_back({.group = std::move(group)});
    add(report.items.back(), row, report.currency);
    add(report.total, row, report.currency);
  }
  return report;
}

}  // namespace sandgate
