#include "billing/usage/usage_export.hpp"

#include "billing/csv.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/moment.hpp"

namespace sandgate {
namespace {

constexpr Words kUsageFormatWords({Word{UsageFormat::csv, "csv"}, Word{UsageFormat::json, "json"},
                                   Word{UsageFormat::focus, "focus"}});

std::string csv_line(const UsageRow& row, bool cost_currency) {
  std::vector<std::string> cells{row.id,
                                 row.tenant,
                                 row.sandbox,
                                 row.deployment,
                                 row.provider,
                                 row.profile,
                                 row.meter,
                                 row.quantity,
                                 to_rfc3339(row.interval_start),
                                 to_rfc3339(row.interval_end),
                                 row.cost,
                                 row.charge,
                                 row.charge_currency};
  if (cost_currency)
    cells.push_back(row.cost_currency);
  else if (row.cost != "0" && row.cost_currency != row.charge_currency)
    throw Error(ErrorCode::unavailable,
                "costs in another currency were booked while the export was written: repeat it");
  return csv_row(cells);
}

std::string json_line(const UsageRow& row) {
  return nlohmann::ordered_json{{"id", row.id},
                                {"tenant", row.tenant},
                                {"sandbox", row.sandbox},
                                {"deployment", row.deployment},
                                {"provider", row.provider},
                                {"profile", row.profile},
                                {"meter", row.meter},
                                {"quantity", row.quantity},
                                {"interval_start", to_rfc3339(row.interval_start)},
                                {"interval_end", to_rfc3339(row.interval_end)},
                                {"cost", row.cost},
                                {"charge", row.charge},
                                {"currency", row.charge_currency},
                                {"cost_currency", row.cost_currency}}
             .dump() +
         "\n";
}

// The FOCUS unit and service category of a meter.
std::pair<std::string, std::string> focus_unit_and_category(const std::string& meter) {
  if (meter == "egress_gib") return {"GiB", "Networking"};
  if (meter == "disk_gib_second") return {"GiB-Seconds", "Storage"};
  if (meter == "memory_gib_second") return {"GiB-Seconds", "Compute"};
  if (meter == "sandbox_created") return {"Sandboxes", "Compute"};
  return {"Seconds", "Compute"};
}

constexpr std::string_view kFocusHeader =
    "BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,"
    "BillingPeriodStart,"
    "ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,ChargePeriodEnd,"
    "ChargePeriodStart,"
    "ConsumedQuantity,ConsumedUnit,ContractedCost,EffectiveCost,InvoiceIssuerName,ListCost,"
    "PricingQuantity,PricingUnit,ProviderName,PublisherName,RegionId,RegionName,"
    "ResourceId,ResourceType,"
    "ServiceCategory,ServiceName,SkuId,SubAccountId,SubAccountName,Tags,x_EventId,x_VendorCost,"
    "x_VendorCostCurrency\r\n";

std::string focus_line(const UsageRow& row) {
  const auto [from, to] = month_around(row.interval_start);
  const auto [unit, category] = focus_unit_and_category(row.meter);
  return csv_row({row.charge,
                  row.tenant,
                  row.tenant_name,
                  row.charge_currency,
                  to_rfc3339(to),
                  to_rfc3339(from),
                  "Usage",
                  "",  // ChargeClass: not a correction
                  row.meter + " of " + row.profile,
                  "Usage-Based",
                  to_rfc3339(row.interval_end),
                  to_rfc3339(row.interval_start),
                  row.quantity,
                  unit,
                  row.charge,
                  row.charge,
                  "Sandgate",
                  row.charge,
                  row.quantity,
                  unit,
                  row.provider,
                  row.provider,
                  row.region,
                  row.region,
                  row.sandbox,
                  "Sandbox",
                  category,
                  row.deployment,
                  row.provider + "/" + row.meter,
                  row.profile,
                  row.profile,
                  row.metadata,
                  row.id,
                  row.cost,
                  row.cost_currency});
}

}  // namespace

const char kUsageColumns[] =
    "e.id, e.tenant, e.sandbox, e.deployment, e.provider, e.region, e.profile, e.meter,"
    " trim_scale(e.quantity) AS quantity,"
    " (extract(epoch FROM e.interval_start) * 1000000)::bigint AS start_micros,"
    " (extract(epoch FROM e.interval_end) * 1000000)::bigint AS end_micros,"
    " trim_scale(e.cost) AS cost, e.cost_currency, trim_scale(e.charge) AS charge,"
    " e.charge_currency,"
    " coalesce((SELECT name FROM tenant t WHERE t.id = e.tenant), '') AS tenant_name,"
    " coalesce((SELECT metadata::text FROM metered_sandbox m WHERE m.sandbox = e.sandbox), '{}')"
    " AS metadata";

UsageRow usage_row_from(const pqxx::row& row) {
  const auto text = [&](const char* name) { return row[name].as<std::string>(); };
  return {.id = text("id"),
          .tenant = text("tenant"),
          .sandbox = text("sandbox"),
          .deployment = text("deployment"),
          .provider = text("provider"),
          .region = text("region"),
          .profile = text("profile"),
          .meter = text("meter"),
          .quantity = text("quantity"),
          .interval_start = from_micros(row["start_micros"].as<int64_t>()),
          .interval_end = from_micros(row["end_micros"].as<int64_t>()),
          .cost = text("cost"),
          .cost_currency = text("cost_currency"),
          .charge = text("charge"),
          .charge_currency = text("charge_currency"),
          .tenant_name = text("tenant_name"),
          .metadata = text("metadata")};
}

std::vector<UsageRow> read_usage_page(pqxx::work& tx, const UsageExport& wanted,
                                      const std::optional<UsageRow>& last, size_t limit) {
  // The first condition says nothing new, but tells which partitions to look at.
  const auto rows =
      tx.exec_params("SELECT " + std::string(kUsageColumns) +
                         " FROM usage_event e WHERE interval_start >= $1::timestamptz"
                         " AND interval_start < $2::timestamptz"
                         " AND (interval_start, id) > ($1::timestamptz, $3::uuid)" +
                         std::string(wanted.tenant ? " AND tenant = $4" : " AND $4 = ''") +
                         " ORDER BY interval_start, id LIMIT $5",
                     to_rfc3339(last ? last->interval_start : wanted.from), to_rfc3339(wanted.to),
                     last ? last->id : "00000000-0000-0000-0000-000000000000",
                     wanted.tenant ? wanted.tenant->value : "", limit);
  std::vector<UsageRow> page;
  for (const auto& row : rows) page.push_back(usage_row_from(row));
  return page;
}

bool costs_in_other_currencies(pqxx::work& tx, const UsageExport& wanted) {
  return tx
      .exec_params1(
          "SELECT EXISTS (SELECT FROM usage_rollup WHERE cost_currency <> charge_currency"
          " AND cost <> 0 AND day BETWEEN ($1::timestamptz AT TIME ZONE 'UTC')::date"
          " AND ($2::timestamptz AT TIME ZONE 'UTC')::date" +
              std::string(wanted.tenant ? " AND tenant = $3)" : " AND $3 = '')"),
          to_rfc3339(wanted.from), to_rfc3339(wanted.to),
          wanted.tenant ? wanted.tenant->value : "")[0]
      .as<bool>();
}

std::optional<UsageFormat> usage_format_from(std::string_view text) {
  return kUsageFormatWords.find(text);
}

std::string_view content_type(UsageFormat format) {
  return format == UsageFormat::json ? "application/x-ndjson" : "text/csv; charset=utf-8";
}

std::string usage_header(UsageLayout layout) {
  if (layout.format == UsageFormat::json) return "";
  if (layout.format == UsageFormat::focus) return std::string(kFocusHeader);
  return "id,tenant,sandbox,deployment,provider,profile,meter,quantity,interval_start,"
         "interval_end,cost,charge,currency" +
         std::string(layout.cost_currency ? ",cost_currency\r\n" : "\r\n");
}

std::string usage_line(UsageLayout layout, const UsageRow& row) {
  switch (layout.format) {
    case UsageFormat::csv:
      return csv_line(row, layout.cost_currency);
    case UsageFormat::json:
      return json_line(row);
    case UsageFormat::focus:
      return focus_line(row);
  }
  return "";
}

}  // namespace sandgate
