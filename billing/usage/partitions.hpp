#pragma once
#include "gateway/core/database.hpp"

namespace sandgate {

// Creates the monthly partitions of usage events for this month and `months_ahead` more; to be run
// daily. Returns how many were new.
Task<int> create_usage_partitions(Database& database, int months_ahead = 2);

}  // namespace sandgate
