#include "gateway/core/sql_time.hpp"

namespace sandgate {

std::string sql_micros(std::string_view expression) {
  return "(extract(epoch FROM " + std::string(expression) + ") * 1000000)::bigint";
}

Time database_now(pqxx::work& tx) {
  static const std::string kSql = "SELECT " + sql_micros("clock_timestamp()");
  return from_micros(tx.exec1(kSql)[0].as<int64_t>());
}

}  // namespace sandgate
