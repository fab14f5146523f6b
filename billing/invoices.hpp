#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/change_trail.hpp"
#include "billing/invoice.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// Makes invoices from booked usage. An issued one never changes; usage that comes in later for its
// time is on the next one issued, as lines that adjust it.
class Invoices {
 public:
  explicit Invoices(Database& database) : database_(database) {}

  struct Order {
    TenantId tenant;
    Time from, to;
    // Both are moments of this time zone's calendar and clock, written as if it were UTC.
    std::optional<std::string> timezone;
    std::optional<std::string> currency;  // default: USD when there is any, else the first by name
  };
  // Throws Error(conflict) when an issued invoice covers part of that time, Error(invalid) for a
  // time zone that nobody knows.
  Task<Invoice> draft(Order order, ChangeTrail trail = {});
  // Works the lines out anew, fixes them, sets off credits. Throws Error(invalid) when its time has
  // not ended, Error(conflict) when part of it is on an issued invoice. Idempotent.
  Task<Invoice> issue(InvoiceId id, ChangeTrail trail = {});
  // Takes back a part of an issued one: see credit_invoice.
  Task<Invoice> credit(InvoiceId id, Decimal amount, std::string reason, ChangeTrail trail = {});
  Task<Invoice> get(InvoiceId id);  // throws Error(not_found)
  // By age, without lines; of all tenants when empty.
  Task<std::vector<Invoice>> list(std::optional<TenantId> tenant, std::optional<InvoiceId> after,
                                  int64_t limit);

 private:
  Database& database_;
};

}  // namespace sandgate
