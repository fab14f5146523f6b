#include "billing/invoices/credit_note.hpp"

#include <algorithm>

#include "billing/currency.hpp"
#include "billing/invoices/credits.hpp"
#include "billing/invoices/invoice_rows.hpp"
#include "billing/ledger/ledger.hpp"

namespace sandgate {
namespace {

void check_amount(const Invoice& invoice, const Decimal& amount) {
  if (!(amount > Decimal())) throw Error::invalid("/amount", "must be more than zero");
  const int digits = minor_digits(invoice.currency).value_or(2);
  if (amount.rounded(digits) != amount)
    throw Error::invalid("/amount", "is no whole number of the currency's smallest units");
  const Decimal left = invoice.total - invoice.credited();
  if (amount > left)
    throw Error::invalid("/amount",
                         "is more than the " + left.to_fixed(digits) + " that can be taken back");
}

void insert_credit_note(pqxx::work& tx, const CreditNoteId& note, const InvoiceId& invoice,
                        const Decimal& amount, const std::string& reason) {
  tx.exec_params(
      "INSERT INTO credit_note (id, invoice, amount, reason) VALUES ($1, $2, $3::numeric, $4)",
      note.value, invoice.value, amount.to_string(), reason);
}

}  // namespace

Invoice credit_invoice(pqxx::work& tx, const InvoiceId& id, const Decimal& amount,
                       const std::string& reason) {
  const auto known = read_invoice(tx, id);
  if (!known) throw Error::not_found("invoice", id.value);
  // Payments and other credit notes must not change until this one is written.
  lock_issuing(tx, known->tenant);
  const Invoice invoice = *read_invoice(tx, id);
  if (invoice.state != InvoiceState::issued)
    throw Error(ErrorCode::conflict, "the invoice is a draft: draft another instead");
  check_amount(invoice, amount);
  const CreditNoteId note = CreditNoteId::make();
  insert_credit_note(tx, note, id, amount, reason);
  const std::string why = "credit note " + note.value + " for " + id.value;
  const Money owed{std::min(amount, invoice.due()), invoice.currency};
  const Money paid{amount - owed.amount, invoice.currency};
  const std::string revenue(kRevenue);
  if (!owed.amount.is_zero())
    post(tx, make_transfer(owed, why, invoice.tenant, revenue, receivable_of(invoice.tenant)));
  if (!paid.amount.is_zero()) {
    post(tx, make_transfer(paid, why, invoice.tenant, revenue, credits_of(invoice.tenant)));
    credit_budgets(tx, invoice.tenant, paid);
    pay_issued(tx, invoice.tenant, invoice.currency);
  }
  return *read_invoice(tx, id);
}

}  // namespace sandgate
