#pragma once
#include <atomic>
#include <vector>

#include "billing/usage_event.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// Writes usage: rated events, their sums, what they move in the ledger and take from budgets.
class UsageBook {
 public:
  // Books events of metered sandboxes, any number in one statement. An event already booked with
  // the same content is skipped, so a replay changes nothing. Returns how many were new.
  // One booked with other content is Error(conflict), with details.sandbox, and an alarm: nobody
  // but a broken or tampered writer makes one. `has_budgets` false: none of their tenants has any,
  // as was read while price publication was held off.
  size_t record(pqxx::work& tx, const std::vector<UsageEvent>& events, bool has_budgets = true);

  uint64_t conflicts() const { return conflicts_; }  // since the start of this process

 private:
  std::atomic<uint64_t> conflicts_{0};
};

}  // namespace sandgate
