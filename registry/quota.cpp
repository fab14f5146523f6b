#include "registry/quota.hpp"

#include "gateway/core/error.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {

void check_quota(pqxx::work& tx, const Quota& quota, const std::string& owner) {
  // A separate statement, so that the count sees what was committed before the lock was granted.
  run_prepared(tx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
               quota.things + ("/" + owner));
  const auto count = run_prepared(tx, quota.count, owner).front()[0].as<int64_t>();
  if (count >= quota.max)
    throw Error(ErrorCode::quota_exceeded,
                "at most " + std::to_string(quota.max) + " " + quota.things);
}

}  // namespace sandgate
