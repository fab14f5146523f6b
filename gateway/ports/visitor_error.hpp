#pragma once
#include "gateway/core/error.hpp"

namespace sandgate::ports {

// What a visitor of a port is told of a failure to reach the sandbox. Budgets, quotas and vendors
// are the tenant's business, and a public port is visited by anybody: such a failure becomes
// Error(unavailable) without details. What tells the sandbox's state keeps its code.
Error for_visitor(const Error& failure);

}  // namespace sandgate::ports
