#include "billing/invoices/credits.hpp"

#include <algorithm>

#include "billing/ledger/ledger.hpp"

namespace sandgate {
namespace {

constexpr const char* kUnpaid = R"sql(
SELECT id, total - credits_applied - settled.amount AS due FROM invoice i, LATERAL (
  SELECT (SELECT coalesce(sum(amount), 0) FROM invoice_payment p WHERE p.invoice = i.id)
    + (SELECT coalesce(sum(amount), 0) FROM credit_note n WHERE n.invoice = i.id) AS amount) settled
WHERE tenant = $1 AND currency = $2 AND state = 'issued' AND total > credits_applied + settled.amount
ORDER BY issued_at, id)sql";

}  // namespace

int64_t post_credit_payment(pqxx::work& tx, const TenantId& tenant, const Money& money,
                            const InvoiceId& invoice) {
  return post(tx, make_transfer(money, "credits for " + invoice.value, tenant, credits_of(tenant),
                                receivable_of(tenant)));
}

void lock_credits(pqxx::work& tx, const TenantId& tenant) {
  tx.exec_params("SELECT pg_advisory_xact_lock(hashtextextended('credits/' || $1, 0))",
                 tenant.value);
}

void credit_budgets(pqxx::work& tx, const TenantId& tenant, const Money& money) {
  // A budget that is being set reads the ledger, which does not show it this money yet.
  lock_credits(tx, tenant);
  // Locked by their ids, as everywhere.
  tx.exec_params(
      "WITH raised AS (SELECT id FROM budget WHERE tenant = $1 AND currency = $2"
      "   AND time_window = 'total' ORDER BY id FOR UPDATE)"
      " UPDATE budget b SET credits = credits + $3::numeric,"
      " alerted = least(alerted, floor(spent * 100 / (amount + credits + $3::numeric)))::int,"
      " told_exceeded = told_exceeded AND spent >= amount + credits + $3::numeric"
      " FROM raised WHERE b.id = raised.id",
      tenant.value, money.currency, money.amount.to_string());
}

Decimal pay_issued(pqxx::work& tx, const TenantId& tenant, const std::string& currency) {
  Decimal credits = credit_balance(tx, credits_of(tenant), currency);
  for (const auto& row : tx.exec_params(kUnpaid, tenant.value, currency)) {
    const InvoiceId invoice{row["id"].as<std::string>()};
    const Decimal paid = std::min(credits, Decimal::from_sql(row["due"].c_str()));
    if (!(paid > Decimal())) break;
    const int64_t transfer = post_credit_payment(tx, tenant, {paid, currency}, invoice);
    tx.exec_params("INSERT INTO invoice_payment (transfer, invoice, amount) VALUES ($1, $2, $3)",
                   transfer, invoice.value, paid.to_string());
    credits -= paid;
  }
  return credits;
}

}  // namespace sandgate
