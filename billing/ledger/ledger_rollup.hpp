#pragma once
#include "gateway/core/database.hpp"

namespace sandgate {

// Adds up transfers that are older than a day, the oldest first and `most` at most, into the sums
// that read_balances() begins with. Returns how many; 0 when there are none left. Replicas may run
// it at the same time.
Task<size_t> roll_up_ledger(Database& database, int64_t most = 20'000);

}  // namespace sandgate
