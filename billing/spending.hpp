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

  // Counts the charges as spent and takes them out of what was set aside for their sandboxes.
  void charge(pqxx::work& tx, const std::vector<UsageEvent>& booked);

 private:
  void draw_down(pqxx::work& tx, const std::vector<UsageEvent>& booked);
  // Of the events' sandboxes; nothing is read while every budget holds for all of them.
  void read_subjects(pqxx::work& tx, const std::vector<UsageEvent>& booked);
  bool holds_for(const Budget& budget, const std::string& sandbox) const;

  std::vector<Budget> budgets_;
  std::map<std::string, BudgetSubject> subjects_;  // by sandbox
};

}  // namespace sandgate
