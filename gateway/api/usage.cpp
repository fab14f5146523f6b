#include "gateway/api/usage.hpp"

#include "billing/currency.hpp"
#include "billing/known_tenant.hpp"
#include "billing/usage/usage_export.hpp"
#include "gateway/api/tenant_scope.hpp"
#include "gateway/api/time_range.hpp"
#include "gateway/core/sql_time.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxFields = 8;
constexpr size_t kRowsPerPage = 2'000;

std::vector<std::string> split_fields(const std::string& list) {
  if (list.empty())
    throw Error::invalid("/group_by", "names no field: leave it out for all in one");
  std::vector<std::string> fields;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string field = list.substr(at, comma - at);
    if (!is_usage_field(field))
      throw Error::invalid("/group_by",
                           "'" + field +
                               "' is not a field to group by; these are: "
                               "tenant, profile, deployment, meter, day, metadata.<name>");
    if (std::find(fields.begin(), fields.end(), field) != fields.end())
      throw Error::invalid("/group_by", "names '" + field + "' twice");
    fields.push_back(field);
    at = comma + 1;
  }
  if (fields.size() > kMaxFields) throw Error::invalid("/group_by", "names too many fields");
  return fields;
}

UsageQuery query_from(const http::Request& request) {
  const TimeRange range = time_range_parameters(request.query);
  UsageQuery query{.tenant = tenant_parameter(request),
                   .from = range.from,
                   .to = range.to,
                   .currency = request.query.find("currency")};
  if (const auto list = request.query.find("group_by")) query.group_by = split_fields(*list);
  if (query.currency && !minor_digits(*query.currency))
    throw Error::invalid("/currency", kUnknownCurrency);
  return query;
}

Json to_json(const UsageItem& item, const std::vector<std::string>& fields) {
  Json json = Json::object();
  for (size_t i = 0; i < item.group.size(); ++i)
    json[fields[i]] = item.group[i] ? Json(*item.group[i]) : Json();
  json["meters"] = Json::object();
  for (const auto& [meter, quantity] : item.meters) json["meters"][meter] = quantity.to_string();
  json["cost"] = item.cost.to_string();
  json["charge"] = item.charge.to_string();
  return json;
}

Json to_json(const UsageReport& report, const std::vector<std::string>& fields) {
  Json items = Json::array();
  for (const UsageItem& item : report.items) items.push_back(to_json(item, fields));
  Json json{{"from", to_rfc3339(report.from)},
            {"to", to_rfc3339(report.to)},
            {"currency", report.currency},
            {"items", std::move(items)},
            {"total", to_json(report.total, fields)}};
  if (!report.other_currencies.empty()) json["other_currencies"] = report.other_currencies;
  return json;
}

// Only an operator can name a tenant that does not exist.
Task<void> check_named_tenant(Database& database, std::optional<TenantId> named,
                              const http::Caller& caller) {
  if (!named || caller.tenant) co_return;
  auto check = [named](pqxx::work& tx) { check_tenant(tx, *named); };
  co_await database.run(std::move(check));
}

Task<std::vector<UsageRow>> rows_after(UsageReader& reader, UsageExport wanted,
                                       std::optional<UsageRow> last) {
  auto work = [wanted, last](pqxx::work& tx) {
    return read_usage_page(tx, wanted, last, kRowsPerPage);
  };
  return reader.report(wanted.tenant, std::move(work));
}

Task<UsageLayout> layout_of(UsageReader& reader, UsageExport wanted, UsageFormat format) {
  UsageLayout layout{format};
  if (format != UsageFormat::csv) co_return layout;
  auto work = [wanted](pqxx::work& tx) { return costs_in_other_currencies(tx, wanted); };
  layout.cost_currency = co_await reader.report(wanted.tenant, std::move(work));
  co_return layout;
}

Task<void> write_export(UsageReader& reader, UsageExport wanted, UsageLayout layout,
                        std::vector<UsageRow> page, http::BodySink& sink) {
  std::string text = usage_header(layout);
  for (;;) {
    for (const UsageRow& row : page) text += usage_line(layout, row);
    if (!text.empty()) co_await sink.write(std::span<const char>(text.data(), text.size()));
    if (page.size() < kRowsPerPage) co_return;
    auto reading = rows_after(reader, wanted, page.back());
    page = co_await std::move(reading);
    text.clear();
  }
}

}  // namespace

void UsageHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  using http::Permission;
  routes.add({.method = Method::get,
              .pattern = "/v1/usage",
              .permission = Permission::read,
              .handler = [this](http::Request& request) { return read(request); }});
  routes.add({.method = Method::get,
              .pattern = "/v1/usage/export",
              .permission = Permission::read,
              .handler = [this](http::Request& request) { return export_events(request); }});
}

Task<http::Response> UsageHandlers::read(http::Request& request) {
  const UsageQuery query = query_from(request);
  co_await check_named_tenant(database_, query.tenant, request.caller);
  const UsageReport report = co_await reader_.read(query);
  co_return http::Response::json(200, to_json(report, query.group_by));
}

Task<http::Response> UsageHandlers::export_events(http::Request& request) {
  const auto format = usage_format_from(request.query.find("format").value_or("csv"));
  if (!format) throw Error::invalid("/format", "must be one of: csv, json, focus");
  UsageExport wanted{.tenant = tenant_parameter(request)};
  const TimeRange range = time_range_parameters(request.query);
  co_await check_named_tenant(database_, wanted.tenant, request.caller);
  const auto place = reader_.acquire_report_slot(wanted.tenant);
  // Exported events are final and have ids, so all usage must be booked before.
  co_await reader_.refresh(wanted.tenant);
  const Time now = co_await database_.run(&database_now);
  std::tie(wanted.from, wanted.to) = resolve_time_range(range, now);
  // The first page is read before the answer starts, so that an outage is an error status.
  auto reading = rows_after(reader_, wanted, std::nullopt);
  auto first = co_await std::move(reading);
  auto laying_out = layout_of(reader_, wanted, *format);
  const UsageLayout layout = co_await std::move(laying_out);
  http::Response response;
  response.content_type = content_type(*format);
  if (*format != UsageFormat::json)
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"usage.csv\"");
  response.body =
      http::StreamBody{.produce = [&reader = reader_, wanted, place, first = std::move(first),
                                   layout](http::BodySink& sink) {
        return write_export(reader, wanted, layout, first, sink);
      }};
  co_return response;
}

}  // namespace sandgate::api
