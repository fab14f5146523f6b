#include "billing/timezone.hpp"

#include "gateway/core/error.hpp"

namespace sandgate {

void check_timezone(pqxx::work& tx, const std::string& timezone) {
  // Three names stand for the setting of the database's machine; the folders posix and right repeat
  // all others, `right` with leap seconds.
  if (tx.exec_params("SELECT FROM pg_timezone_names WHERE name = $1"
                     " AND name NOT IN ('localtime', 'posixrules', 'Factory')"
                     " AND name !~ '^(posix|right)/'",
                     timezone)
          .empty())
    throw Error::invalid("/timezone", "is not a time zone, such as \"Europe/Berlin\"");
}

Time moment_in(pqxx::work& tx, const std::string& timezone, Time shown) {
  const auto row = tx.exec_params1(
      "SELECT (extract(epoch FROM first_moment($1::timestamptz AT TIME ZONE 'UTC', $2)) * 1000000)"
      "::bigint",
      to_rfc3339(shown), timezone);
  return from_micros(row[0].as<int64_t>());
}

}  // namespace sandgate
