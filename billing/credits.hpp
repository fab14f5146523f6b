#pragma once
#include <pqxx/pqxx>

#include "billing/decimal.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// Pays a tenant's issued invoices in that currency from its credits, the one issued first before
// the others. Returns the credits that are left. The caller's transaction holds hold_issuing().
Decimal pay_issued(pqxx::work& tx, const TenantId& tenant, const std::string& currency);

// Adds prepaid money to the tenant's budgets without a window in that currency.
void raise_budgets(pqxx::work& tx, const TenantId& tenant, const Money& money);

// Posts a payment of an invoice from credits. Returns the transfer's id.
int64_t set_off(pqxx::work& tx, const TenantId& tenant, const Money& money,
                const InvoiceId& invoice);

}  // namespace sandgate
