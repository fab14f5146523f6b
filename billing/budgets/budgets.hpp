#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/budgets/budget_rows.hpp"
#include "billing/budgets/reservation_estimate.hpp"
#include "billing/prices/price_books.hpp"

namespace sandgate {

// The expected charges of a sandbox, for which money is to be set aside.
struct PlannedSpending {
  TenantId tenant;
  SandboxId sandbox;
  std::optional<Money> charge_per_hour;  // empty: no price known
  std::chrono::seconds ttl{0};  // from now
  BudgetSubject subject;  // used by reserve() and resume()
  // The highest charge, in that currency. Empty: of a metered sandbox what is not booked yet and
  // its planned time, else by the rate. Used by reserve() and adjust().
  std::optional<RunCharge> max_charge;
  std::set<std::string> other_currencies;  // that may be charged as well; used as `subject` is
  bool is_crowded = false;  // reserve() meets others of the tenant; see there
  std::optional<int64_t> generation;  // of the prices behind the above; used by reserve()
};

// A sandbox to stop because its budget has no money left.
struct Halt {
  TenantId tenant;
  SandboxId sandbox;
  OnExceeded action = OnExceeded::kill;  // never deny
  std::string budget;
  Time covered_until;  // its reservation lasts until then
};

// How long a sandbox may run under a budget with on_exceeded `kill`, unless more is set aside.
struct BudgetDeadline {
  TenantId tenant;
  SandboxId sandbox;
  std::string budget;
  Time until;
};

// Enforces budgets by reserving money for sandboxes; a tenant without budgets is not limited. A
// create reserves the highest charge that min(ttl, 1 h) can come to. renew() reserves more when
// less than five minutes are covered. Booked usage draws the reservation down (see BudgetPosting),
// and the sandbox's end releases the rest.
class Budgets {
 public:
  explicit Budgets(PriceBooks& books, const Clock* clock = nullptr)
      : books_(books), clock_(clock) {}

  // Reserves money for a new sandbox, in the transaction that writes its intention. Returns false
  // when no budget applies. Throws Error(budget_exceeded) with details {budget, amount, currency,
  // spent, reserved, remaining, needed}, also when a charge may be in another currency than a
  // budget. With `is_crowded` it first looks at the budgets without their lock, for which others
  // wait, and refuses what the committed rows have no money for. Throws OutOfDate when prices were
  // published after that `generation`; the price books know them then.
  bool reserve(pqxx::work& tx, const PlannedSpending& planned);
  // Makes the reservation of a paused sandbox one for running again, in the transaction that writes
  // that intention: whatever is held for it counts as free. Throws as reserve() does.
  void resume(pqxx::work& tx, PlannedSpending planned);
  // Resizes the reservation after the rate or the end changed (placed, paused): to what is needed,
  // or to as much as the budgets have. Never throws budget_exceeded.
  void adjust(pqxx::work& tx, const PlannedSpending& planned);
  // As adjust() before more time is granted, and counts what ran but is not booked yet. Throws
  // Error(budget_exceeded), as reserve() does, when the budgets have too little.
  void extend_reservation(pqxx::work& tx, const PlannedSpending& planned);
  // Releases the reservation of a sandbox that ended or never began, but for `keep`: what a last
  // reading may be charged, by Meter::close(). To be called again without it once that came, or
  // cannot come any more. Idempotent.
  void settle(pqxx::work& tx, const SandboxId& id, const Money& keep = {});

  // Renews reservations that run out, and opens them for sandboxes that began before their tenant
  // had a budget; releases those of sandboxes that are booked to their end. To be called at least
  // every 30 seconds. Returns the sandboxes to stop because no money is left, in every call until
  // they have stopped; no more than are needed for the others to be covered, while each of these is
  // for a minute. Logs and skips a tenant that fails.
  Task<std::vector<Halt>> renew(Database& database);
  // Of the sandboxes whose own time ends later, those to kill at their deadline while the database
  // cannot be asked for more; paused ones only where nothing is left. Soonest first, at most
  // 100 000. To be read after renew().
  Task<std::vector<BudgetDeadline>> deadlines(Database& database);
  // renew() for one tenant, within the caller's transaction: for those of its reservations that run
  // out first, kMaxExpiring at most.
  std::vector<Halt> renew_tenant(pqxx::work& tx, const std::string& tenant);
  // The time that reservations are measured by, when the database's is `of_database`.
  Time time(Time of_database) const { return clock_ ? clock_->now() : of_database; }

 private:
  // reserve() without its fast path, and without first renewing the reservations of what runs.
  bool reserve_from_budgets(pqxx::work& tx, const PlannedSpending& planned);
  // Throws OutOfDate unless `generation`, read while publication is held off, is the planned one.
  void check_generation(pqxx::work& tx, const PlannedSpending& planned, int64_t generation) const;
  // Throws budget_exceeded where the committed rows show it; takes no lock.
  void check_committed(pqxx::work& tx, const PlannedSpending& planned) const;

  // What came of some of a tenant's reservations that run out.
  struct Page {
    std::vector<Halt> halts;
    std::optional<ExpiryCursor> last;  // of those looked at; empty: there are no more
  };
  Page renew_page(pqxx::work& tx, const std::string& tenant, const ExpiryCursor& after);
  // All of them, each page in a transaction of its own. Logs what fails and returns the rest.
  Task<std::vector<Halt>> renew_all(Database& database, std::string tenant);

  // Releases what is reserved for a tenant's ended sandboxes, as settle() does.
  void settle_ended(pqxx::work& tx, const std::string& tenant);
  // Opens empty reservations for the tenant's metered sandboxes that have none.
  static void open_missing_reservations(pqxx::work& tx, const std::string& tenant,
                                        const PriceSnapshot& prices, Time at);

  PriceBooks& books_;
  const Clock* clock_;
};

}  // namespace sandgate
