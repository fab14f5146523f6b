#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"

namespace sandgate {

// Makes the months' partitions of usage events, the current one and `months_ahead` more; for a
// daily job. Returns how many were new.
Task<int> create_usage_partitions(Database& database, int months_ahead = 2);

// Takes months that ended before a day out of the table, to be archived and dropped by hand; what
// they hold no longer counts in any report. Returns their names, now tables of their own.
Task<std::vector<std::string>> detach_usage_partitions(Database& database,
                                                       std::chrono::year_month_day keep_from);

}  // namespace sandgate
