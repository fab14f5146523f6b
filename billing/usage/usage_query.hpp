#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "billing/usage/usage_event.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Selects the usage to sum. An event belongs to the moment its interval begins; intervals are cut
// at every quarter of an hour, so a day or month of any time zone is exact.
struct UsageQuery {
  std::optional<TenantId> tenant;  // empty: all
  std::optional<Time> from, to;  // [from, to); default: the UTC month that `to` ends, up to now
  // tenant, profile, deployment, provider, meter, sandbox, day (UTC), metadata.<key>
  std::vector<std::string> group_by;
  std::optional<std::string> currency;  // default: see UsageReport
};

// Whether UsageQuery::group_by accepts the name.
bool is_usage_field(std::string_view name);

struct UsageItem {
  std::vector<std::optional<std::string>> group;  // in the order of group_by; empty: has none
  std::map<std::string, Decimal> meters;
  Decimal cost, charge;  // in the report's currency
};

// The sums of a query. Amounts are in one currency: the one asked for, else USD when any amount is
// in it, else the first by name. Quantities are those of usage with an amount in that currency or
// without a price. `other_currencies` names the currencies left out.
struct UsageReport {
  Time from, to;
  std::string currency;
  std::vector<std::string> other_currencies;
  std::vector<UsageItem> items;  // sorted by group
  UsageItem total;
};

// Reads the daily sums where they suffice, else the events; adds `unbooked` as if booked. Throws
// Error(invalid) for an unknown field, an empty span or more than 50 000 combinations of group,
// meter and currencies.
UsageReport read_usage(pqxx::work& tx, const UsageQuery& query,
                       const std::vector<UsageEvent>& unbooked = {});

}  // namespace sandgate
