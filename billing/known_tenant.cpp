#include "billing/known_tenant.hpp"

#include "gateway/core/error.hpp"

namespace sandgate {

void check_tenant(pqxx::work& tx, const TenantId& tenant) {
  if (tx.exec_params("SELECT FROM tenant WHERE id = $1", tenant.value).empty())
    throw Error::not_found("tenant", tenant.value);
}

}  // namespace sandgate
