#include "billing/prices/price_rows.hpp"

#include <unordered_map>

#include "billing/budgets/budget_rows.hpp"
#include "billing/sql_array.hpp"
#include "gateway/core/sql_time.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

std::optional<Decimal> optional_decimal(const pqxx::field& field) {
  if (field.is_null()) return std::nullopt;
  return Decimal::from_sql(field.c_str());
}

PriceVersion version_from(const pqxx::row& row) {
  return {.id = row["id"].as<int64_t>(),
          .book = row["book"].as<std::string>(),
          .version = row["version"].as<int>(),
          .kind = row["kind"].as<std::string>() == "cost" ? PriceKind::cost : PriceKind::charge,
          .tenant = row["tenant"].as<std::string>(""),
          .currency = row["currency"].as<std::string>(),
          .effective_from = from_micros(row["effective_micros"].as<int64_t>()),
          .created_at = from_micros(row["created_micros"].as<int64_t>()),
          .markup_percent = optional_decimal(row["markup_percent"])};
}

PriceEntry entry_from(const pqxx::row& row) {
  const auto meter = meter_kind_from(row["meter"].as<std::string>());
  if (!meter) throw Error(ErrorCode::internal, "a price names an unknown meter");
  return {.id = row["id"].as<int64_t>(),
          .provider = row["provider"].as<std::string>(),
          .deployment = row["deployment"].as<std::string>(),
          .region = row["region"].as<std::string>(),
          .meter = *meter,
          .terms = {Decimal::from_sql(row["unit_price"].c_str()), optional_decimal(row["minimum"]),
                    optional_decimal(row["rounding"]), optional_decimal(row["included"])},
          .source = row["source"].as<std::string>()};
}

void insert_entries(pqxx::work& tx, int64_t version_id, const std::vector<PriceEntry>& entries) {
  SqlArray provider, deployment, region, meter, unit_price, minimum, rounding, included, source;
  const auto add = [](SqlArray& array, const std::optional<Decimal>& value) {
    value ? array.add(value->to_string()) : array.add_null();
  };
  for (const PriceEntry& entry : entries) {
    provider.add(entry.provider);
    deployment.add(entry.deployment);
    region.add(entry.region);
    meter.add(to_string(entry.meter));
    unit_price.add(entry.terms.unit_price.to_string());
    add(minimum, entry.terms.minimum);
    add(rounding, entry.terms.rounding);
    add(included, entry.terms.included);
    source.add(entry.source);
  }
  tx.exec_params(
      "INSERT INTO price_entry (version_id, provider, deployment, region, meter, unit_price,"
      " minimum, rounding, included, source)"
      " SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[],"
      " $7::numeric[], $8::numeric[], $9::numeric[], $10::text[])",
      version_id, provider.str(), deployment.str(), region.str(), meter.str(), unit_price.str(),
      minimum.str(), rounding.str(), included.str(), source.str());
}

}  // namespace

Time lock_publishing(pqxx::work& tx) {
  // Two statements in one round trip: the clock is read after the lock is held.
  const auto row = tx.exec("SELECT pg_advisory_xact_lock(" + std::to_string(kRatingLock) +
                           "); SELECT " + sql_micros("clock_timestamp()"));
  return from_micros(row[0][0].as<int64_t>());
}

RatingState lock_rating(pqxx::work& tx) {
  static const std::string kSql =
      "SELECT now_micros, generation FROM hold_rating(" + std::to_string(kRatingLock) + ")";
  const auto row = run_prepared(tx, kSql)[0];
  return {from_micros(row[0].as<int64_t>()), row[1].as<int64_t>()};
}

RatingState read_rating(pqxx::work& tx) {
  static const std::string kSql = "SELECT " + sql_micros("clock_timestamp()") +
                                  ", (SELECT coalesce(max(id), 0) FROM price_version)";
  const auto row = run_prepared(tx, kSql)[0];
  return {from_micros(row[0].as<int64_t>()), row[1].as<int64_t>()};
}

std::set<std::string> rating_transactions(pqxx::work& tx) {
  static const std::string kSql =
      "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
      " AND mode = 'ShareLock' AND granted"
      " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
      " AND (classid::bigint << 32) + objid::bigint = " +
      std::to_string(kRatingLock);
  std::set<std::string> raters;
  for (const auto& row : tx.exec(kSql)) raters.insert(row[0].as<std::string>());
  return raters;
}

std::vector<PriceVersion> read_price_heads(pqxx::work& tx, const PriceFilter& filter) {
  std::vector<PriceVersion> heads;
  for (const auto& row :
       tx.exec_params("SELECT id, book, version, kind, tenant, currency, markup_percent,"
                      " (extract(epoch FROM effective_from) * 1000000)::bigint AS effective_micros,"
                      " (extract(epoch FROM created_at) * 1000000)::bigint AS created_micros"
                      " FROM price_version WHERE ($1::text IS NULL OR book = $1) AND id > $2"
                      " ORDER BY book COLLATE \"C\", version",
                      filter.book, filter.after))
    heads.push_back(version_from(row));
  return heads;
}

void read_price_entries(pqxx::work& tx, std::vector<PriceVersion>& versions) {
  std::unordered_map<int64_t, PriceVersion*> by_id;
  SqlArray ids;
  for (PriceVersion& version : versions) {
    ids.add(version.id);
    by_id[version.id] = &version;
  }
  if (versions.empty()) return;
  for (const auto& row :
       tx.exec_params("SELECT * FROM price_entry WHERE version_id = ANY ($1::bigint[]) ORDER BY id",
                      ids.str()))
    by_id.at(row["version_id"].as<int64_t>())->entries.push_back(entry_from(row));
}

std::vector<PriceVersion> read_price_versions(pqxx::work& tx, const PriceFilter& filter) {
  auto versions = read_price_heads(tx, filter);
  read_price_entries(tx, versions);
  return versions;
}

PriceVersion insert_price_version(pqxx::work& tx, const PriceVersion& draft) {
  const auto row = tx.exec_params1(
      "INSERT INTO price_version (book, version, kind, tenant, currency, effective_from,"
      " markup_percent) SELECT $1, 1 + coalesce(max(version), 0), $2, nullif($3, ''), $4,"
      " $5::timestamptz, $6::numeric"
      " FROM price_version WHERE book = $1 RETURNING id",
      draft.book, std::string(to_string(draft.kind)), draft.tenant, draft.currency,
      to_rfc3339(draft.effective_from),
      draft.markup_percent ? std::optional(draft.markup_percent->to_string()) : std::nullopt);
  const auto id = row["id"].as<int64_t>();
  insert_entries(tx, id, draft.entries);
  tx.exec_params("SELECT pg_notify('prices', $1), pg_notify($2, $3)", draft.book, kBudgetsChannel,
                 draft.tenant);
  reprice_reservations(tx, draft.tenant);
  return read_price_versions(tx, {.book = draft.book, .after = id - 1}).back();
}

}  // namespace sandgate
