#pragma once
#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// Checks that the tenant's limits allow one more sandbox. Locks out other creates of the tenant
// until the transaction ends; takes no lock when nothing is limited. Throws Error(quota_exceeded)
// for max_running and max_vcpu, Error(rate_limited) with retry_after for creates_per_minute.
void check_create_limits(pqxx::work& tx, const TenantId& tenant, const Resources& resources);

}  // namespace sandgate
