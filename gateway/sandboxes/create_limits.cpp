#include "gateway/sandboxes/create_limits.hpp"

#include <algorithm>

#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/store.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate {

void check_create_limits(pqxx::work& tx, const TenantId& tenant, const Resources& resources) {
  const TenantLimits limits = tenant_limits(tx, tenant);
  if (!limits.max_running && !limits.max_milli_vcpu && !limits.creates_per_minute) return;
  // A separate statement, so that its snapshot is taken after the lock was granted.
  run_prepared(tx, "SELECT pg_advisory_xact_lock(hashtextextended('sandboxes/' || $1, 0))",
               tenant.value);
  const sandbox_rows::Load load = sandbox_rows::load_of(tx, tenant);
  if (limits.max_running && load.sandboxes >= *limits.max_running)
    throw Error(ErrorCode::quota_exceeded, "the tenant's limit of running sandboxes is reached");
  if (limits.max_milli_vcpu && load.milli_vcpu + resources.milli_vcpu > *limits.max_milli_vcpu)
    throw Error(ErrorCode::quota_exceeded, "the tenant's limit of vCPUs is reached");
  if (limits.creates_per_minute && load.created_last_minute >= *limits.creates_per_minute) {
    Error error(ErrorCode::rate_limited, "the tenant's limit of creates per minute is reached");
    error.retry_after = std::max(load.oldest_leaves_in, std::chrono::milliseconds(1));
    throw error;
  }
}

}  // namespace sandgate
