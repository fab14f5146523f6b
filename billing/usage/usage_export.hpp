#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// One booked event as exported. Numbers are exact decimals as text.
struct UsageRow {
  std::string id, tenant, sandbox, deployment, provider, region, profile, meter, quantity;
  Time interval_start, interval_end;
  std::string cost, cost_currency, charge, charge_currency;
  std::string tenant_name;  // as it is now
  std::string metadata = "{}";  // the sandbox's, a JSON object
};

// The SELECT list over `usage_event e` that usage_row_from() reads.
extern const char kUsageColumns[];
UsageRow usage_row_from(const pqxx::row& row);

struct UsageExport {
  std::optional<TenantId> tenant;  // empty: all
  Time from, to;  // of the interval's start, [from, to)
};

// The page after `last` in order of interval start and id; shorter than `limit` at the end.
std::vector<UsageRow> read_usage_page(pqxx::work& tx, const UsageExport& wanted,
                                      const std::optional<UsageRow>& last, size_t limit);

// Whether events that are booked now have a cost in another currency than their charge. May be true
// for those of a day that is only partly in the span.
bool costs_in_other_currencies(pqxx::work& tx, const UsageExport& wanted);

enum class UsageFormat { csv, json, focus };
std::optional<UsageFormat> usage_format_from(std::string_view text);
std::string_view content_type(UsageFormat format);

struct UsageLayout {
  UsageFormat format = UsageFormat::csv;
  bool cost_currency = false;  // CSV: a last column for it; the other formats always tell it
};

// The text before the first row; empty for JSON lines.
std::string usage_header(UsageLayout layout);
// One row with its line end. FOCUS columns: focus.finops.org, version 1.0. Throws
// Error(unavailable) if the row's cost is in another currency and the layout has no place for it.
std::string usage_line(UsageLayout layout, const UsageRow& row);

}  // namespace sandgate
