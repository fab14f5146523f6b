#pragma once
#include <string>

#include <pqxx/pqxx>

#include "billing/invoices/invoice.hpp"

namespace sandgate {

using CreditNoteId = Id<'c', 'n'>;

// Writes a credit note on an issued invoice: whole minor units, at most the total less earlier
// notes. It lowers what is due; a part that was already paid becomes credits of the tenant, which
// pay its other invoices. Returns the invoice. Throws Error(not_found), Error(conflict) for a
// draft, Error(invalid) for a wrong amount.
Invoice credit_invoice(pqxx::work& tx, const InvoiceId& id, const Decimal& amount,
                       const std::string& reason);

}  // namespace sandgate
