#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/change_trail.hpp"
#include "billing/invoices/invoice.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// Drafts and issues invoices of booked usage. An issued invoice never changes; usage booked later
// for its period is on the next one issued, as lines that adjust it.
class Invoices {
 public:
  explicit Invoices(Database& database) : database_(database) {}

  struct Order {
    TenantId tenant;
    Time from, to;
    // When set, `from` and `to` are local times of this zone, written as if they were UTC.
    std::optional<std::string> timezone;
    std::optional<std::string> currency;  // default: as report_currency() says
  };
  // Of a tenant's drafts the newest 100 are kept. Throws Error(conflict) when an issued invoice in
  // that currency covers part of the period, Error(invalid) for an unknown time zone and
  // Error(not_found) for an unknown tenant.
  Task<Invoice> draft(Order order, ChangeTrail trail = {});
  // Computes and fixes the lines, and applies credits. Throws Error(invalid) when the period has
  // not ended, Error(conflict) when an issued invoice covers part of it, Error(not_found).
  // Idempotent.
  Task<Invoice> issue(InvoiceId id, ChangeTrail trail = {});
  // Adds a credit note to an issued invoice: see credit_invoice.
  Task<Invoice> credit(InvoiceId id, Decimal amount, std::string reason, ChangeTrail trail = {});
  Task<Invoice> get(InvoiceId id);  // throws Error(not_found)
  // Oldest first, without lines; of all tenants when `tenant` is empty.
  Task<std::vector<Invoice>> list(std::optional<TenantId> tenant,
                                  std::optional<InvoiceCursor> after, int64_t limit);

 private:
  Database& database_;
};

}  // namespace sandgate
