#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/invoices/invoice.hpp"
#include "gateway/core/database.hpp"

// SQL access to invoices, inside the caller's transaction.
namespace sandgate {

// Computes the lines from usage booked up to `through` (a sequence number): usage of the invoice's
// period, and late usage of issued invoices. Usage that is charged nothing has no line. Rounds each
// line and sets the total.
void compute_lines(pqxx::work& tx, Invoice& invoice, int64_t through);
// The currencies of the charges in the invoice's period; looks at all of its events.
std::set<std::string> charged_in(pqxx::work& tx, const Invoice& invoice);
// The currencies of the charges of late usage of issued invoices.
std::set<std::string> charged_late(pqxx::work& tx, const TenantId& tenant);
void insert_invoice(pqxx::work& tx, const Invoice& invoice);
// Removes all but the tenant's newest drafts.
void prune_drafts(pqxx::work& tx, const TenantId& tenant, int64_t most);
void replace_lines(pqxx::work& tx, const Invoice& invoice);
// Locks the row. Empty when there is none.
std::optional<Invoice> lock_invoice(pqxx::work& tx, const InvoiceId& id);
std::optional<Invoice> read_invoice(pqxx::work& tx, const InvoiceId& id);
std::vector<Invoice> read_invoices(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   const std::optional<InvoiceCursor>& after, int64_t limit);
// Draws the invoice's number, and so waits for every other issue under way: call it last.
void mark_issued(pqxx::work& tx, const Invoice& invoice, int64_t through);
bool overlaps_issued(pqxx::work& tx, const Invoice& invoice);
// Keeps other invoices of the tenant from being issued until the transaction ends.
void lock_issuing(pqxx::work& tx, const TenantId& tenant);
// The highest booking number that issued invoices of the same tenant and currency include; or 0.
int64_t issued_through(pqxx::work& tx, const Invoice& invoice);
// The last number drawn so far; bookings in progress may commit below it (see booking_watermark).
int64_t last_sequence(pqxx::work& tx);

}  // namespace sandgate
