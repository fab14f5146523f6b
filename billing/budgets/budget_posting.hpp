#pragma once
#include <map>
#include <vector>

#include "billing/budgets/budget_rows.hpp"
#include "billing/usage/usage_event.hpp"

namespace sandgate {

struct MeteredLife;

// How far a sandbox's usage is booked after a booking.
struct BookingProgress {
  const PriceSnapshot& prices;
  const MeteredLife& life;  // its time is booked up to the boundary
  Money uncounted;  // see uncounted_time()
};
using BookingProgressMap = std::map<std::string, BookingProgress>;  // by sandbox

// Charges booked usage to budgets and reservations, inside the caller's transaction: lock() before
// the events are written, charge() after.
class BudgetPosting {
 public:
  // Locks the budgets of the events' tenants. Without budgets, or without this, charge() does
  // nothing.
  void lock(pqxx::work& tx, const std::vector<UsageEvent>& events);

  // Adds the charges to the budgets' spent amounts and takes them out of the reservations, each in
  // its own currency only. Nothing is reserved for egress: it is taken out only as far as the
  // budgets have no other money. What a reservation holds for time that is in `to` but not counted
  // covers nothing else. Time in another currency leaves its end where it is and frees the rest.
  void charge(pqxx::work& tx, const std::vector<UsageEvent>& booked, const BookingProgressMap& to);

 private:
  struct Drawn;
  void draw_down(pqxx::work& tx, const std::vector<UsageEvent>& booked,
                 const BookingProgressMap& to);
  void pay_running(Reservation& reservation, const Drawn& sum, const BookingProgress* to);
  // Sets how long the reservation lasts from where time is booked to.
  void cover_from(Reservation& reservation, const BookingProgress& to);
  void pay_beyond(Reservation& reservation, const Drawn& sum);
  // Reads the subjects of the events' sandboxes, unless every budget applies to all of them.
  void read_subjects(pqxx::work& tx, const std::vector<UsageEvent>& booked);
  bool holds_for(const Budget& budget, const std::string& sandbox) const;

  std::vector<Budget> budgets_;
  std::map<std::string, BudgetSubject> subjects_;  // by sandbox
};

}  // namespace sandgate
