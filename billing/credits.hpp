#pragma once
#include <pqxx/pqxx>

#include "billing/decimal.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// Sets a tenant's credits off against what its issued invoices of that currency leave to pay, the
// one issued first before the others. Returns the credits that are left. The caller's transaction
// holds the tenant's issuing (hold_issuing).
Decimal pay_issued(pqxx::work& tx, const TenantId& tenant, const std::string& currency);

// Prepaid money came in: budgets without a window may spend it on top.
void raise_budgets(pqxx::work& tx, const TenantId& tenant, const Money& money);

// Moves credits to what the tenant owes, for an invoice. Returns the transfer's id.
int64_t set_off(pqxx::work& tx, const TenantId& tenant, const Money& money,
                const InvoiceId& invoice);

}  // namespace sandgate
