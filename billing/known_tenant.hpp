#pragma once
#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"

namespace sandgate {

// Throws Error(not_found) when the tenant does not exist.
void check_tenant(pqxx::work& tx, const TenantId& tenant);

}  // namespace sandgate
