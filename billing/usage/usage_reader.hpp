#pragma once
#include <map>
#include <mutex>

#include "billing/usage/meter.hpp"
#include "billing/usage/usage_query.hpp"
#include "gateway/core/report_quota.hpp"

namespace sandgate {

// Reports usage up to this moment. Reading writes nothing: usage that is not booked yet is computed
// and added.
class UsageReader {
 public:
  UsageReader(Database& database, Meter& meter);

  // Throws as read_usage and acquire_report_slot do.
  Task<UsageReport> read(UsageQuery query);
  // Takes one of a tenant's slots for concurrent reports, until the result is released. Throws
  // Error(rate_limited) when none is free.
  std::shared_ptr<void> acquire_report_slot(const std::optional<TenantId>& tenant) {
    return quota_.acquire(tenant ? tenant->value : "");
  }
  // Waits until one of the tenant's reports may use a connection: others keep one. To be held
  // during a call of Database::report(). Throws Error(rate_limited) when that takes too long.
  Task<std::shared_ptr<void>> acquire_connection(std::optional<TenantId> tenant) {
    return quota_.wait_for_connection(tenant ? tenant->value : "");
  }
  // As Database::report(), holding such a connection.
  template <class F>
  auto report(std::optional<TenantId> tenant, F work)
      -> Task<std::invoke_result_t<F&, pqxx::work&>> {
    auto taking = acquire_connection(std::move(tenant));
    const auto turn = co_await std::move(taking);
    co_return co_await database_.report(kReportTimeout, std::move(work));
  }
  // Books usage up to now of a tenant, or (empty) of all, for results that are kept, such as
  // invoices. Open sandboxes at most once a second.
  Task<void> refresh(std::optional<TenantId> tenant);
  // Books ended sandboxes, for results that show bookings, such as the ledger. Both functions also
  // wait for other transactions' bookings. Throw Error(unavailable) when that takes too long.
  Task<void> book_ends(std::optional<TenantId> tenant);

 private:
  static constexpr std::chrono::seconds kReportTimeout{30};

  // Whether open sandboxes are due to be booked.
  bool due(const std::string& tenant);
  // Open sandboxes are booked up to `since` or later.
  void note_refreshed(const std::string& tenant, std::chrono::steady_clock::time_point since);

  Database& database_;
  Meter& meter_;
  ReportQuota quota_;
  std::mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> refreshed_;
};

}  // namespace sandgate
