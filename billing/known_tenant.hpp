#pragma once
#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"

namespace sandgate {

// Throws Error(not_found) for a tenant there is not.
void check_tenant(pqxx::work& tx, const TenantId& tenant);

}  // namespace sandgate
