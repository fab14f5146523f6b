#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/budgets/budget.hpp"
#include "gateway/core/database.hpp"

// SQL access to budgets and reservations, inside the caller's transaction. Locks are taken in one
// order: budgets by id, then reservations by sandbox.
namespace sandgate {

// NOTIFY when running sandboxes may have less money; payload: tenant id, or empty for all.
inline constexpr const char* kBudgetsChannel = "budgets";

// The money set aside for one sandbox.
struct Reservation {
  std::string sandbox, tenant, currency;
  Decimal charge_per_hour;
  Decimal held;
  // Time already paid for beyond `held`, as money at that rate (a minimum is charged at once, and
  // lasts). Negative: that much of `held` is not for time.
  Decimal ahead;
  Time covered_until;  // how far `held` and `ahead` last, at the prices of that time
  Time ends_at;  // when the sandbox's own time ends
  BudgetSubject subject;
  // `covered_until` is out of date: prices were published since, or money was taken back.
  bool reprice = false;

  // What held + ahead pay for, less what is held for `other` than the time to come; at least 0.
  Decimal paid(const Decimal& other = {}) const;
};

// A tenant's budgets, locked, with their windows advanced to the one that contains `now`. Holds off
// price publication first: everything that keeps bookings out takes the two locks in that order.
struct LockedBudgets {
  Time now;  // the database's, or `clock`'s
  std::vector<Budget> budgets;  // empty: no lock is held either
};
LockedBudgets lock_tenant_budgets(pqxx::work& tx, const std::string& tenant, const Clock* clock);
// Locks the budgets of the tenants and advances their windows (never back) to the one that contains
// `at`. A new window starts with the usage already booked in it.
std::vector<Budget> lock_budgets(pqxx::work& tx, const std::set<std::string>& tenants, Time at);
// A tenant's budgets by name, as lock_budgets() would return them, without a lock. Empty `at`: when
// the transaction began.
std::vector<Budget> read_budgets(pqxx::work& tx, const std::string& tenant, std::optional<Time> at);
// Stores spent, reserved, alerted and told_exceeded.
void update_budgets(pqxx::work& tx, const std::vector<Budget>& budgets);
// Inserts events for the thresholds crossed, and updates the budgets in memory only.
void emit_threshold_events(pqxx::work& tx, std::vector<Budget>& budgets);
// Inserts a `budget.exceeded` event, once per window; leaves the thresholds alone. When booked
// usage alone does not exhaust the budget, the event's `spent` includes what is reserved.
void emit_exceeded_event(pqxx::work& tx, Budget& budget);

// The budget subject of a metered sandbox; empty when none has that id.
std::optional<BudgetSubject> metered_subject(pqxx::work& tx, const std::string& sandbox);

// The change of one reservation, to be added to `reserved` of its budgets, which are locked.
struct ReservationDelta {
  std::vector<int64_t> budgets;  // ids
  Decimal amount;  // negative: given back
};

// Fast path of a create: inserts the reservation in one statement, if every budget that applies is
// in its currency and current window and has the money, and if the sandboxes that run already are
// covered. It is covered for `covers` and ends after `lives`, both from now (`clock`'s or the
// database's).
struct FastReservation {
  // False: nothing was inserted, because a condition is not met or no budget applies. Empty: the
  // tenant has no budgets.
  std::optional<bool> done;
  int64_t generation = 0;  // of the prices in force; set when done
};
FastReservation try_fast_reserve(pqxx::work& tx, const Reservation& reservation,
                                 std::chrono::microseconds covers, std::chrono::seconds lives,
                                 const Clock* clock);

// Fast path after a create was placed where it costs what was reserved: sets the reservation's
// times, as try_fast_reserve() does, without the lock of its budgets, whose money stays as it is.
// False: it differs from `reservation` in rate, currency or money, or is to be repriced; nothing
// was done, and its row is not locked.
bool try_fast_adjust(pqxx::work& tx, const Reservation& reservation,
                     std::chrono::microseconds covers, std::chrono::seconds lives,
                     const Clock* clock);

// Each of these also applies `delta` to the budgets, in the same statement.
void insert_reservation(pqxx::work& tx, const Reservation& reservation,
                        const ReservationDelta& delta = {});
void update_reservations(pqxx::work& tx, const std::vector<Reservation>& reservations,
                         const ReservationDelta& delta = {});
void delete_reservation(pqxx::work& tx, const std::string& sandbox, const ReservationDelta& delta);
std::vector<Reservation> lock_reservations(pqxx::work& tx, const std::set<std::string>& sandboxes);
// The place of a reservation in the order in which they run out.
struct ExpiryCursor {
  Time at;
  std::string sandbox;
};
// Those of a tenant that run out before `moment` and before their sandbox ends, or are to be
// repriced, after `after`, soonest first; at most kMaxExpiring.
inline constexpr size_t kMaxExpiring = 1000;
std::vector<Reservation> lock_expiring(pqxx::work& tx, const std::string& tenant, Time moment,
                                       const ExpiryCursor& after);

// Has the reservations of a tenant (empty: of all) repriced. Requires lock_publishing().
void reprice_reservations(pqxx::work& tx, const std::string& tenant);

// Locks and deletes the sandboxes' reservations, and gives back what they held. No effect on
// sandboxes without one. `clock` as in lock_tenant_budgets(). Of several tenants only where price
// publication is held off.
void release_reservations(pqxx::work& tx, const std::set<std::string>& sandboxes,
                          const Clock* clock);
// Gives back what the sandbox's reservation holds beyond `most`, or in another currency, and
// extends it no more. Locks as release_reservations() does.
void shrink_reservation(pqxx::work& tx, const std::string& sandbox, const Money& most,
                        const Clock* clock);
// The next two name a tenant's ended sandboxes that still have a reservation, at most 1000.
// Booked to their end. `stopping`: those whose row is in that state, so that a last reading may
// still come; otherwise all others.
std::set<std::string> reserved_though_ended(pqxx::work& tx, const std::string& tenant,
                                            bool stopping);
// Not booked to their end yet, and with money left in the reservation.
std::set<std::string> reserved_until_booked(pqxx::work& tx, const std::string& tenant);

}  // namespace sandgate
