#include "gateway/sandboxes/creating/create_limits.hpp"

#include <algorithm>

#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate {
namespace {

std::string vcpu_text(int64_t milli) { return Json(static_cast<double>(milli) / 1000).dump(); }

}  // namespace

void check_create_limits(pqxx::work& tx, const TenantId& tenant, const Resources& resources) {
  const TenantLimits limits = tenant_limits(tx, tenant);
  if (!limits.max_running && !limits.max_milli_vcpu && !limits.creates_per_minute) return;
  // A separate statement, so that its snapshot is taken after the lock was granted.
  run_prepared(tx, "SELECT pg_advisory_xact_lock(hashtextextended('sandboxes/' || $1, 0))",
               tenant.value);
  const sandbox_rows::Load load = sandbox_rows::load_of(tx, tenant);
  if (limits.max_running && load.sandboxes >= *limits.max_running)
    throw Error(ErrorCode::quota_exceeded, "the tenant may have " +
                                               std::to_string(*limits.max_running) +
                                               " sandboxes at once, paused ones included: end one");
  if (limits.max_milli_vcpu && load.milli_vcpu + resources.milli_vcpu > *limits.max_milli_vcpu)
    throw Error(ErrorCode::quota_exceeded,
                "the tenant may have " + vcpu_text(*limits.max_milli_vcpu) +
                    " vCPUs at once, of which " + vcpu_text(load.milli_vcpu) +
                    " are taken: end a sandbox, or ask for fewer");
  if (limits.creates_per_minute && load.created_last_minute >= *limits.creates_per_minute) {
    Error error(ErrorCode::rate_limited, "the tenant may create " +
                                             std::to_string(*limits.creates_per_minute) +
                                             " sandboxes in a minute");
    const auto wait = sandbox_rows::until_fewer_creates(tx, tenant, *limits.creates_per_minute);
    error.retry_after = std::max(wait, std::chrono::milliseconds(1));
    throw error;
  }
}

}  // namespace sandgate
