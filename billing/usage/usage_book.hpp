#pragma once
#include <atomic>
#include <vector>

#include "billing/budgets/budget_posting.hpp"

namespace sandgate {

// Books rated events: inserts them, adds them to the daily sums, posts them to the ledger and
// charges them to budgets.
class UsageBook {
 public:
  // Books events of metered sandboxes in one statement and returns how many were new. An event that
  // is booked with the same content is skipped, so a replay changes nothing. Throws Error(conflict)
  // with details.sandbox, and logs an error, when one is booked with other content: only a broken
  // or tampered writer does that. `has_budgets` false: no tenant of theirs has any, as read while
  // price publication was held off. `to`: see BudgetPosting::charge().
  size_t record(pqxx::work& tx, const std::vector<UsageEvent>& events, bool has_budgets = true,
                const BookingProgressMap& to = {});

  uint64_t conflicts() const { return conflicts_; }  // since the start of this process

 private:
  std::atomic<uint64_t> conflicts_{0};
};

}  // namespace sandgate
