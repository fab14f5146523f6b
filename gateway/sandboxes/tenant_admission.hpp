#pragma once
#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// Whether a tenant's limits leave room for one more sandbox, decided for good: until the
// transaction ends no other create of this tenant is judged. Takes no lock where nothing is
// limited. Throws Error(quota_exceeded) for max_running and max_vcpu, Error(rate_limited) with
// retry_after for creates_per_minute.
void admit(pqxx::work& tx, const TenantId& tenant, const Resources& resources);

}  // namespace sandgate
