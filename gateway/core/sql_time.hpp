#pragma once
#include <string>
#include <string_view>

#include <pqxx/pqxx>

#include "gateway/core/time.hpp"

namespace sandgate {

// SQL for a timestamptz as microseconds, for from_micros(). `expression` is trusted SQL.
std::string sql_micros(std::string_view expression);

// The database's time at this moment, not that at which the transaction began.
Time database_now(pqxx::work& tx);

}  // namespace sandgate
