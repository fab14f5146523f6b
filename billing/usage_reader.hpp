#pragma once
#include <map>
#include <mutex>

#include "billing/meter.hpp"
#include "billing/usage_query.hpp"

namespace sandgate {

// Usage up to this moment. Reading writes nothing: what is not booked yet is worked out beside it.
class UsageReader {
 public:
  UsageReader(Database& database, Meter& meter) : database_(database), meter_(meter) {}

  Task<UsageReport> read(UsageQuery query);
  // Books what runs now for a tenant, or (empty) for all; at most once a second. For what is to be
  // kept, such as invoices.
  Task<void> refresh(std::optional<TenantId> tenant);

 private:
  // Whether it is time; notes that it was done.
  bool due(const std::string& tenant);

  Database& database_;
  Meter& meter_;
  std::mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> refreshed_;
};

}  // namespace sandgate
