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

enum class UsageFormat { csv, json, focus };
std::optional<UsageFormat> usage_format_from(std::string_view text);
std::string_view content_type(UsageFormat format);
// The text before the first row; empty for JSON lines.
std::string usage_header(UsageFormat format);
// One row with its line end. FOCUS columns: focus.finops.org, version 1.0.
std::string usage_line(UsageFormat format, const UsageRow& row);

}  // namespace sandgate
