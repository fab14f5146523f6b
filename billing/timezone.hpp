#pragma once
#include <string>

#include <pqxx/pqxx>

#include "gateway/core/time.hpp"

namespace sandgate {

// Throws Error(invalid) at /timezone unless it is an IANA name that the database knows.
void check_timezone(pqxx::work& tx, const std::string& timezone);

// The moment at which a clock in the time zone shows what `shown` is in UTC.
Time moment_in(pqxx::work& tx, const std::string& timezone, Time shown);

}  // namespace sandgate
