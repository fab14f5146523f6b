#include "gateway/api/audit.hpp"

#include "gateway/api/page.hpp"
#include "gateway/api/tenant_scope.hpp"
#include "gateway/api/time_range.hpp"

namespace sandgate::api {
namespace {

Json to_json(const AuditRow& row) {
  const auto& [actor, tenant, action, object, before, after] = row.entry;
  return {{"id", std::to_string(row.id)},
          {"at", to_rfc3339(row.at)},
          {"tenant", tenant ? Json(tenant->value) : Json()},
          {"actor", {{"key", actor.key_id}, {"name", actor.key_name}, {"role", actor.role}}},
          {"action", action},
          {"object", object},
          {"before", before},
          {"after", after},
          {"request_id", actor.request_id}};
}

}  // namespace

Actor actor_of(const http::Request& request) {
  return {.key_id = request.caller.key_id,
          .key_name = request.caller.key_name,
          .role = std::string(to_string(request.caller.role)),
          .request_id = request.id,
          .claim = request.claim};
}

ChangeTrail trail_of(const http::Request& request, std::optional<TenantId> tenant,
                     std::string action, std::string object) {
  AuditEntry entry{.actor = actor_of(request),
                   .tenant = std::move(tenant),
                   .action = std::move(action),
                   .object = std::move(object)};
  return [entry = std::move(entry)](pqxx::work& tx, const Json& before, const Json& after) {
    AuditEntry change = entry;
    change.before = before;
    change.after = after;
    audit(tx, change);
  };
}

void AuditHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::get,
              .pattern = "/v1/audit",
              .permission = http::Permission::read_audit,
              .handler = [this](http::Request& request) { return list(request); }});
}

Task<http::Response> AuditHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2, {"tenant", "action", "object", "key"});
  const TimeRange range = time_range_parameters(request.query);
  AuditFilter filter{.tenant = tenant_parameter(request),
                     .action = request.query.find("action"),
                     .object = request.query.find("object"),
                     .key_id = request.query.find("key"),
                     .from = range.from,
                     .to = range.to,
                     .limit = page.rows_to_fetch()};
  if (!page.after.empty()) filter.before = {page.time_after(0), page.integer_after(1)};
  auto reading = database_.run([filter](pqxx::work& tx) { return read_audit(tx, filter); });
  const auto rows = co_await std::move(reading);
  const auto key = [](const AuditRow& row) {
    return std::vector{to_rfc3339(row.at), std::to_string(row.id)};
  };
  co_return http::Response::json(200, page_json(page, rows, to_json, key));
}

}  // namespace sandgate::api
