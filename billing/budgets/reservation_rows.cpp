#include "billing/budgets/budget_rows.hpp"
#include "billing/budgets/funds.hpp"
#include "billing/prices/price_rows.hpp"
#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr const char* kReservationColumns =
    "sandbox, tenant, currency, charge_per_hour, held, ahead, subject, reprice,"
    " (extract(epoch FROM covered_until) * 1000000)::bigint AS covered_micros,"
    " (extract(epoch FROM ends_at) * 1000000)::bigint AS ends_micros";

constexpr int kMaxEnded = 1000;

std::vector<Reservation> reservations_from(const pqxx::result& rows) {
  std::vector<Reservation> reservations;
  for (const auto& row : rows)
    reservations.push_back({.sandbox = row["sandbox"].as<std::string>(),
                            .tenant = row["tenant"].as<std::string>(),
                            .currency = row["currency"].as<std::string>(),
                            .charge_per_hour = Decimal::from_sql(row["charge_per_hour"].c_str()),
                            .held = Decimal::from_sql(row["held"].c_str()),
                            .ahead = Decimal::from_sql(row["ahead"].c_str()),
                            .covered_until = from_micros(row["covered_micros"].as<int64_t>()),
                            .ends_at = from_micros(row["ends_micros"].as<int64_t>()),
                            .subject = budget_subject_from(Json::parse(row["subject"].c_str())),
                            .reprice = row["reprice"].as<bool>()});
  return reservations;
}

std::set<std::string> sandboxes_from(const pqxx::result& rows) {
  std::set<std::string> sandboxes;
  for (const auto& row : rows) sandboxes.insert(row[0].as<std::string>());
  return sandboxes;
}

// The start of a statement that changes the reservation, whose own parameters begin at $3.
const std::string kAside =
    "WITH counted AS (UPDATE budget SET reserved = reserved + $1::numeric"
    " WHERE id = ANY ($2::bigint[])) ";

std::string ids_of(const ReservationDelta& delta) {
  SqlArray ids;
  for (const int64_t id : delta.budgets) ids.add(id);
  return ids.str();
}

}  // namespace

Decimal Reservation::paid(const Decimal& other) const {
  return std::max(held + ahead - other, Decimal());
}

std::optional<BudgetSubject> metered_subject(pqxx::work& tx, const std::string& sandbox) {
  const auto rows = run_prepared(
      tx, "SELECT budget_subject(profile, key, metadata) FROM metered_sandbox WHERE sandbox = $1",
      sandbox);
  if (rows.empty()) return std::nullopt;
  return budget_subject_from(Json::parse(rows[0][0].c_str()));
}

FastReservation try_fast_reserve(pqxx::work& tx, const Reservation& r,
                                 std::chrono::microseconds covers, std::chrono::seconds lives,
                                 const Clock* clock) {
  static const std::string kSql =
      "SELECT done, generation FROM set_aside_by_prices(" + std::to_string(kRatingLock) +
      ", $1, $2, $3, $4::numeric, $5::numeric, $6::bigint * interval '1 microsecond',"
      " $7::bigint * interval '1 second', $8::jsonb, $9::timestamptz, $10::numeric)";
  const auto told = clock ? std::optional(to_rfc3339(clock->now())) : std::nullopt;
  const auto row =
      run_prepared(tx, kSql, r.tenant, r.sandbox, r.currency, r.charge_per_hour.to_string(),
                   r.held.to_string(), covers.count(), static_cast<int64_t>(lives.count()),
                   to_json(r.subject).dump(), told, r.ahead.to_string())[0];
  if (row[0].is_null()) return {};
  return {row[0].as<bool>(), row[1].as<int64_t>(0)};
}

bool try_fast_adjust(pqxx::work& tx, const Reservation& r, std::chrono::microseconds covers,
                     std::chrono::seconds lives, const Clock* clock) {
  static const std::string kSql =
      "SELECT move_reservation(" + std::to_string(kRatingLock) +
      ", $1, $2, $3::numeric, $4::numeric, $5::numeric, $6::bigint * interval '1 microsecond',"
      " $7::bigint * interval '1 second', $8::timestamptz)";
  const auto told = clock ? std::optional(to_rfc3339(clock->now())) : std::nullopt;
  return run_prepared(tx, kSql, r.sandbox, r.currency, r.charge_per_hour.to_string(),
                      r.held.to_string(), r.ahead.to_string(), covers.count(),
                      static_cast<int64_t>(lives.count()), told)[0][0]
      .as<bool>();
}

void insert_reservation(pqxx::work& tx, const Reservation& r, const ReservationDelta& delta) {
  static const std::string kSql =
      kAside +
      "INSERT INTO reservation (sandbox, tenant, currency, charge_per_hour, held, covered_until,"
      " ends_at, subject, ahead)"
      " VALUES ($3, $4, $5, $6::numeric, $7::numeric, $8::timestamptz, $9::timestamptz,"
      " $10::jsonb, $11::numeric)";
  run_prepared(tx, kSql, delta.amount.to_string(), ids_of(delta), r.sandbox, r.tenant, r.currency,
               r.charge_per_hour.to_string(), r.held.to_string(), to_rfc3339(r.covered_until),
               to_rfc3339(r.ends_at), to_json(r.subject).dump(), r.ahead.to_string());
}

std::vector<Reservation> lock_reservations(pqxx::work& tx, const std::set<std::string>& sandboxes) {
  return reservations_from(run_prepared(tx,
                                        "SELECT " + std::string(kReservationColumns) +
                                            " FROM reservation WHERE sandbox = ANY ($1::text[])"
                                            " ORDER BY sandbox FOR UPDATE",
                                        sql_array_of(sandboxes)));
}

std::vector<Reservation> lock_expiring(pqxx::work& tx, const std::string& tenant, Time moment,
                                       const ExpiryCursor& after) {
  return reservations_from(
      run_prepared(tx,
                   "SELECT " + std::string(kReservationColumns) +
                       " FROM reservation WHERE tenant = $1 AND (reprice"
                       " OR covered_until < $2::timestamptz AND covered_until < ends_at)"
                       " AND (covered_until, sandbox) > ($3::timestamptz, $4)"
                       " ORDER BY covered_until, sandbox LIMIT $5 FOR UPDATE",
                   tenant, to_rfc3339(moment), to_rfc3339(after.at), after.sandbox,
                   static_cast<int64_t>(kMaxExpiring)));
}

void update_reservations(pqxx::work& tx, const std::vector<Reservation>& reservations,
                         const ReservationDelta& delta) {
  SqlArray sandbox, rate, held, covered, ends, ahead, reprice;
  for (const Reservation& r : reservations) {
    sandbox.add(r.sandbox);
    rate.add(r.charge_per_hour.to_string());
    held.add(r.held.to_string());
    covered.add(to_rfc3339(r.covered_until));
    ends.add(to_rfc3339(r.ends_at));
    ahead.add(r.ahead.to_string());
    reprice.add(r.reprice ? "t" : "f");
  }
  static const std::string kSql =
      kAside +
      "UPDATE reservation r SET charge_per_hour = u.rate, held = u.held,"
      " covered_until = u.covered, ends_at = u.ends, ahead = u.ahead, reprice = u.reprice"
      " FROM unnest($3::text[], $4::numeric[], $5::numeric[], $6::timestamptz[],"
      " $7::timestamptz[], $8::numeric[], $9::boolean[])"
      " AS u (sandbox, rate, held, covered, ends, ahead, reprice)"
      " WHERE r.sandbox = u.sandbox";
  run_prepared(tx, kSql, delta.amount.to_string(), ids_of(delta), sandbox.str(), rate.str(),
               held.str(), covered.str(), ends.str(), ahead.str(), reprice.str());
}

void delete_reservation(pqxx::work& tx, const std::string& sandbox, const ReservationDelta& delta) {
  static const std::string kSql = kAside + "DELETE FROM reservation WHERE sandbox = $3";
  run_prepared(tx, kSql, delta.amount.to_string(), ids_of(delta), sandbox);
}

void reprice_reservations(pqxx::work& tx, const std::string& tenant) {
  // Only what has no budget any more is locked by those that do not keep publishers out.
  tx.exec_params(
      "UPDATE reservation SET reprice = true WHERE sandbox IN (SELECT sandbox FROM reservation"
      " WHERE NOT reprice AND ($1 = '' OR tenant = $1) FOR UPDATE SKIP LOCKED)",
      tenant);
}

void release_reservations(pqxx::work& tx, const std::set<std::string>& sandboxes,
                          const Clock* clock) {
  const auto rows = run_prepared(tx,
                                 "SELECT sandbox, tenant FROM reservation"
                                 " WHERE sandbox = ANY ($1::text[]) ORDER BY tenant, sandbox",
                                 sql_array_of(sandboxes));
  std::set<std::string> tenants;
  for (const auto& row : rows) tenants.insert(row[1].as<std::string>());
  // In the order of bookings, which is not that of tenants.
  if (tenants.size() > 1) lock_budgets(tx, tenants, Time());
  for (const auto& row : rows) {
    const auto sandbox = row[0].as<std::string>();
    const auto budgets = lock_tenant_budgets(tx, row[1].as<std::string>(), clock).budgets;
    for (const Reservation& one : lock_reservations(tx, {sandbox}))
      delete_reservation(tx, sandbox, delta_of(budgets, one, -one.held));
  }
}

void shrink_reservation(pqxx::work& tx, const std::string& sandbox, const Money& most,
                        const Clock* clock) {
  const auto rows = run_prepared(tx, "SELECT tenant FROM reservation WHERE sandbox = $1", sandbox);
  if (rows.empty()) return;
  const auto budgets = lock_tenant_budgets(tx, rows[0][0].as<std::string>(), clock).budgets;
  for (Reservation& one : lock_reservations(tx, {sandbox})) {
    const Decimal kept =
        one.currency == most.currency ? std::min(one.held, most.amount) : Decimal();
    const Decimal back = one.held - kept;
    one.held = kept;
    one.ahead = Decimal();
    one.ends_at = one.covered_until;
    one.reprice = false;
    update_reservations(tx, {one}, delta_of(budgets, one, -back));
  }
}

std::set<std::string> reserved_though_ended(pqxx::work& tx, const std::string& tenant,
                                            bool stopping) {
  return sandboxes_from(
      run_prepared(tx,
                   "SELECT sandbox FROM reservation r JOIN metered_sandbox m USING (sandbox)"
                   " WHERE r.tenant = $1 AND m.state = 'closed' AND m.unbooked_end IS NULL"
                   " AND $3 = EXISTS (SELECT FROM sandbox s WHERE s.id = r.sandbox"
                   "   AND s.state = 'stopping') LIMIT $2",
                   tenant, kMaxEnded, stopping));
}

std::set<std::string> reserved_until_booked(pqxx::work& tx, const std::string& tenant) {
  return sandboxes_from(
      run_prepared(tx,
                   "SELECT sandbox FROM metered_sandbox m JOIN reservation r USING (sandbox)"
                   " WHERE m.tenant = $1 AND m.unbooked_end IS NOT NULL AND r.held > 0 LIMIT $2",
                   tenant, kMaxEnded));
}

}  // namespace sandgate
