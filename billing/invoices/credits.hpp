#pragma once
#include <pqxx/pqxx>

#include "gateway/core/decimal.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// Pays a tenant's issued invoices in that currency from its credits, the one issued first before
// the others. Returns the credits that are left. The caller's transaction holds lock_issuing().
Decimal pay_issued(pqxx::work& tx, const TenantId& tenant, const std::string& currency);

// Keeps credits from being added to the tenant's budgets until the transaction ends. To be taken
// before their locks.
void lock_credits(pqxx::work& tx, const TenantId& tenant);

// Adds prepaid money, which the ledger has, to the tenant's budgets without a window in that
// currency. Thresholds that are no longer reached will be reported again. Takes lock_credits()
// first.
void credit_budgets(pqxx::work& tx, const TenantId& tenant, const Money& money);

// Posts a payment of an invoice from credits. Returns the transfer's id.
int64_t post_credit_payment(pqxx::work& tx, const TenantId& tenant, const Money& money,
                            const InvoiceId& invoice);

}  // namespace sandgate
