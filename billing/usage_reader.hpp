#pragma once
#include <map>
#include <mutex>

#include "billing/meter.hpp"
#include "billing/usage_query.hpp"
#include "gateway/core/report_places.hpp"

namespace sandgate {

// Usage up to this moment. Reading writes nothing: what is not booked yet is worked out beside it.
class UsageReader {
 public:
  UsageReader(Database& database, Meter& meter) : database_(database), meter_(meter) {}

  // Throws as read_usage and place_of do.
  Task<UsageReport> read(UsageQuery query);
  // One of the places of a tenant's reports. Throws Error(rate_limited) when none is left.
  std::shared_ptr<void> place_of(const std::optional<TenantId>& tenant) {
    return places_.take(tenant ? tenant->value : "");
  }
  // Books what runs now for a tenant, or (empty) for all; at most once a second. For what is to be
  // kept, such as invoices.
  Task<void> refresh(std::optional<TenantId> tenant);
  // Books what has ended. For what shows bookings, such as the ledger. After either, what others
  // were about to book is in the books as well. Throw Error(unavailable) when that takes long.
  Task<void> book_ends(std::optional<TenantId> tenant);

 private:
  // Whether it is time; notes that it was done.
  bool due(const std::string& tenant);

  Database& database_;
  Meter& meter_;
  ReportPlaces places_;
  std::mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> refreshed_;
};

}  // namespace sandgate
