#pragma once
#include <string>

#include <pqxx/pqxx>

#include "billing/invoice.hpp"

namespace sandgate {

using CreditNoteId = Id<'c', 'n'>;

// Takes back `amount` of an issued invoice, of whole minor units and no more than earlier notes
// left of its total. It lowers what is due; what was paid already becomes credits of the tenant,
// which pay its other invoices. Throws Error(not_found), Error(conflict) for a draft,
// Error(invalid).
Invoice credit_invoice(pqxx::work& tx, const InvoiceId& id, const Decimal& amount,
                       const std::string& reason);

}  // namespace sandgate
