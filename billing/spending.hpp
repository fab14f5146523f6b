#pragma once
#include <map>
#include <vector>

#include "billing/budget_rows.hpp"
#include "billing/usage_event.hpp"

namespace sandgate {

// What booked usage does to the budgets of those who pay it. Inside the caller's transaction:
// locked before the events are written, charged after.
class Spending {
 public:
  // Locks the budgets of the events' tenants. Without it, or without any, charge() does nothing.
  void lock(pqxx::work& tx, const std::vector<UsageEvent>& events);

  // Counts the charges as spent and takes them out of what was set aside for their sandboxes: what
  // bytes cost, for which nothing is, only as far as their budgets have not got it otherwise.
  void charge(pqxx::work& tx, const std::vector<UsageEvent>& booked);

 private:
  struct Drawn;
  void draw_down(pqxx::work& tx, const std::vector<UsageEvent>& booked);
  void pay_running(Reservation& reservation, const Drawn& sum);
  void pay_beyond(Reservation& reservation, const Drawn& sum);
  void give_back(const Reservation& reservation, const Decimal& part);
  // Of the events' sandboxes; nothing is read while every budget holds for all of them.
  void read_subjects(pqxx::work& tx, const std::vector<UsageEvent>& booked);
  bool holds_for(const Budget& budget, const std::string& sandbox) const;

  std::vector<Budget> budgets_;
  std::map<std::string, BudgetSubject> subjects_;  // by sandbox
};

}  // namespace sandgate
