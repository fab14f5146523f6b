#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "billing/usage_event.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Which usage to add up. An event belongs to the moment its interval begins; intervals end at
// every quarter of an hour, so a day or month of any time zone is exact.
struct UsageQuery {
  std::optional<TenantId> tenant;  // empty: all
  std::optional<Time> from, to;  // [from, to); default: the month (UTC) it ends in, up to now
  // tenant, profile, deployment, provider, meter, sandbox, day (UTC), metadata.<key>
  std::vector<std::string> group_by;
  std::optional<std::string> currency;  // default: see UsageReport
};

// Whether it may stand in UsageQuery::group_by.
bool is_usage_field(std::string_view name);

struct UsageItem {
  std::vector<std::optional<std::string>> group;  // in the order of group_by; empty: has none
  std::map<std::string, Decimal> meters;
  Decimal cost, charge;  // in the report's currency
};

// Amounts are of one currency: the one asked for, else USD when there is any, else the first.
// Quantities are of the usage that these amounts are for, and of what has no price.
// `other_currencies` names what is left out.
struct UsageReport {
  Time from, to;
  std::string currency;
  std::vector<std::string> other_currencies;
  std::vector<UsageItem> items;  // sorted by group
  UsageItem total;
};

// Reads the sums by day when they answer the question, else the events themselves; `unbooked` are
// added as if they were booked. Throws Error(invalid) for an unknown field, an empty span or more
// than 50 000 groups.
UsageReport read_usage(pqxx::work& tx, const UsageQuery& query,
                       const std::vector<UsageEvent>& unbooked = {});

}  // namespace sandgate
