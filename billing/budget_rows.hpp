#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/budget.hpp"
#include "gateway/core/database.hpp"

// Budgets and reservations as rows. Everything here runs inside a transaction of the caller's.
// Locks are taken in one order: budgets by id, then reservations by sandbox.
namespace sandgate {

// What is set aside for one sandbox.
struct Reservation {
  std::string sandbox, tenant, currency;
  Decimal charge_per_hour;
  Decimal held;
  // What time at that rate is paid for already beyond `held` (a minimum is charged at once, and
  // lasts); negative: that much of `held` is not for time.
  Decimal ahead;
  Time covered_until;  // how far `held` and `ahead` last at that rate
  Time ends_at;  // when the sandbox's own time ends
  BudgetSubject subject;

  std::chrono::microseconds lasts() const;  // what is left of it for time
};

// A tenant's budgets under their locks, with their windows moved on to the one around `now`.
// Publishing prices is held off first: those who keep bookings out take their locks in that order.
struct HeldBudgets {
  Time now;  // the database's, or `clock`'s
  std::vector<Budget> budgets;  // empty: nothing is held either
};
HeldBudgets hold_budgets(pqxx::work& tx, const std::string& tenant, const Clock* clock);
// Locks the budgets of the tenants, with their windows moved on to the one around `at` (never
// back): a new window starts with what was already booked in it.
std::vector<Budget> lock_budgets(pqxx::work& tx, const std::set<std::string>& tenants, Time at);
// Stores spent, reserved, alerted and told_exceeded.
void update_budgets(pqxx::work& tx, const std::vector<Budget>& budgets);
// Tells of thresholds that were crossed, and notes it in the budgets (not stored yet).
void tell_thresholds(pqxx::work& tx, std::vector<Budget>& budgets);
// Tells that a budget has no money left, once per window; of thresholds that is nothing. What it
// tells as spent is what made it so: with what is set aside, where what is booked is not enough.
void tell_exceeded(pqxx::work& tx, Budget& budget);

// What a sandbox that is metered is to budgets; empty when none of that id is.
std::optional<BudgetSubject> metered_subject(pqxx::work& tx, const std::string& sandbox);

// What a change of one reservation adds to what its budgets have reserved; they are locked.
struct SetAside {
  std::vector<int64_t> budgets;  // ids
  Decimal amount;  // negative: given back
};

// Sets `held` aside for a new reservation in one statement, from `clock`'s now or the database's
// for as long as told, where nothing has to be judged: each budget that holds for it has the money,
// in its currency. False: not so, and nothing was done; empty: the tenant has no budgets.
std::optional<bool> reserve_at_once(pqxx::work& tx, const Reservation& reservation,
                                    std::chrono::microseconds covers, std::chrono::seconds lives,
                                    const Clock* clock);

// Each stores the budgets' side in the same statement.
void insert_reservation(pqxx::work& tx, const Reservation& reservation, const SetAside& aside = {});
void update_reservations(pqxx::work& tx, const std::vector<Reservation>& reservations,
                         const SetAside& aside = {});
void delete_reservation(pqxx::work& tx, const std::string& sandbox, const SetAside& aside);
std::vector<Reservation> lock_reservations(pqxx::work& tx, const std::set<std::string>& sandboxes);
// Those of a tenant that run out before `moment` and before their sandbox ends, soonest first.
std::vector<Reservation> lock_running_out(pqxx::work& tx, const std::string& tenant, Time moment);

}  // namespace sandgate
