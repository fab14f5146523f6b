#pragma once
#include "billing/prices/price_books.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/sandboxes/rows/record.hpp"

namespace sandgate {

// The key under which a placed sandbox is priced; refers to the record's strings.
PriceScope price_scope_of(const Deployments& deployments, const SandboxRecord& record);

}  // namespace sandgate
