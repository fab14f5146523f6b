#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// One booked event as it leaves the house. Numbers are exact decimals as text.
struct UsageRow {
  std::string id, tenant, sandbox, deployment, provider, region, profile, meter, quantity;
  Time interval_start, interval_end;
  std::string cost, cost_currency, charge, charge_currency;
  std::string tenant_name;  // as it is now
};

// What `usage_event e` is asked for to be read as a row.
extern const char kUsageColumns[];
UsageRow usage_row_from(const pqxx::row& row);

struct UsageExport {
  std::optional<TenantId> tenant;  // empty: all
  Time from, to;  // of the interval's start, [from, to)
};

// The next page in order of interval start and id, after `last`; shorter than the limit at the end.
std::vector<UsageRow> read_usage_page(pqxx::work& tx, const UsageExport& wanted,
                                      const std::optional<UsageRow>& last, size_t limit);

enum class UsageFormat { csv, json, focus };
std::optional<UsageFormat> usage_format_from(std::string_view text);
std::string_view content_type(UsageFormat format);
// What stands before the first row; empty for JSON lines.
std::string usage_header(UsageFormat format);
// One line, with its end. FOCUS columns: focus.finops.org, version 1.0.
std::string usage_line(UsageFormat format, const UsageRow& row);

// A CSV field: quoted when it must be (RFC 4180), and never read as a formula by a spreadsheet.
std::string csv_field(std::string_view text);

}  // namespace sandgate
