#include "gateway/sandboxes/creating/price_scope.hpp"

namespace sandgate {

PriceScope price_scope_of(const Deployments& deployments, const SandboxRecord& record) {
  const auto deployment = deployments.find(record.tenant, record.deployment);
  return {record.tenant.value, record.provider, record.deployment, record.region,
          deployment && deployment->tenant.has_value()};
}

}  // namespace sandgate
