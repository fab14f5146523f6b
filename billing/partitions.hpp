#pragma once
#include "gateway/core/database.hpp"

namespace sandgate {

// Makes the months' partitions of usage events, the current one and `months_ahead` more; for a
// daily job. Returns how many were new.
Task<int> create_usage_partitions(Database& database, int months_ahead = 2);

}  // namespace sandgate
