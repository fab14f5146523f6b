#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/invoice.hpp"
#include "gateway/core/database.hpp"

// Invoices as rows. Everything here runs inside a transaction of the caller's.
namespace sandgate {

// Works out the lines from usage booked up to `through` (a sequence): the invoice's own time, and
// late usage of issued ones. Rounds each, and sets the total.
void compute_lines(pqxx::work& tx, Invoice& invoice, int64_t through);
// The currencies of what is charged in the invoice's time, by name.
std::vector<std::string> charged_in(pqxx::work& tx, const Invoice& invoice);
void insert_invoice(pqxx::work& tx, const Invoice& invoice);
void replace_lines(pqxx::work& tx, const Invoice& invoice);
// Locks the row. Empty when there is none.
std::optional<Invoice> lock_invoice(pqxx::work& tx, const InvoiceId& id);
std::optional<Invoice> read_invoice(pqxx::work& tx, const InvoiceId& id);
std::vector<Invoice> read_invoices(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   const std::optional<InvoiceId>& after, int64_t limit);
void mark_issued(pqxx::work& tx, const Invoice& invoice, int64_t through);
bool overlaps_issued(pqxx::work& tx, const Invoice& invoice);
// Keeps other invoices of the tenant from being issued until the transaction ends.
void hold_issuing(pqxx::work& tx, const TenantId& tenant);
// What the issued invoices of the invoice's tenant and currency have seen; 0 without one.
int64_t issued_through(pqxx::work& tx, const Invoice& invoice);
// The last number drawn so far; bookings under way may come in below it (see booked_through).
int64_t last_sequence(pqxx::work& tx);

}  // namespace sandgate
