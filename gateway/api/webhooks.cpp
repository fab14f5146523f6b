#include "gateway/api/webhooks.hpp"

#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/events/event.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr TextRule kUrl{.min = 1, .max = 2048}, kSecret{.min = 1, .max = 1024};
constexpr size_t kMaxFilters = 32;

Json webhook_json(const Webhook& webhook) { return to_json(webhook); }

std::vector<std::string> read_filters(ObjectReader& reader, Problems& problems) {
  const auto filters = reader.texts("types", kMaxFilters, {.min = 1, .max = 64});
  if (!filters) return {"*"};
  if (filters->empty()) reader.problem("types", "must name at least one type, or *");
  for (size_t i = 0; i < filters->size(); ++i)
    if (!is_event_filter((*filters)[i]))
      problems.add(reader.path_of("types") + "/" + std::to_string(i),
                   "is no type of event; a trailing * matches any end");
  return *filters;
}

}  // namespace

void WebhookHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::administer_tenant,
                    http::Permission::administer_tenant);
  named.add(Method::get, "/v1/webhooks", &WebhookHandlers::list);
  named.add(Method::put, "/v1/webhooks/{name}", &WebhookHandlers::put);
  named.add(Method::get, "/v1/webhooks/{name}", &WebhookHandlers::get);
  named.add(Method::delete_, "/v1/webhooks/{name}", &WebhookHandlers::remove);
}

Task<http::Response> WebhookHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  auto reading = webhooks_.list(request.caller.tenant, name_after(page), page.rows_to_fetch());
  const auto rows = co_await std::move(reading);
  co_return http::Response::json(200, page_by_name(page, rows, webhook_json));
}

WebhookDraft WebhookHandlers::draft_from(const http::Request& request) const {
  const Json body = request.json();
  DocumentReader reader(body);
  WebhookDraft draft{.name = request.param("name"), .tenant = request.caller.tenant};
  if (!is_name(draft.name)) reader.problems().add("", kNameRule);
  reader.require("url");
  draft.url = reader.text("url", kUrl).value_or("");
  const std::string wrong = draft.url.empty() ? "" : webhook_url_problem(draft.url, allow_private_);
  if (!wrong.empty()) reader.problem("url", wrong);
  if (const auto secret = reader.text("secret", kSecret)) draft.secret = Secret(*secret);
  draft.types = read_filters(reader, reader.problems());
  reader.finish_or_throw();
  return draft;
}

Task<http::Response> WebhookHandlers::put(http::Request& request) {
  auto writing = webhooks_.put(draft_from(request), actor_of(request));
  const Webhook webhook = co_await std::move(writing);
  co_return http::Response::json(200, to_json(webhook));
}

Task<http::Response> WebhookHandlers::get(http::Request& request) {
  const std::string name = request.param("name");
  auto finding = webhooks_.find(request.caller.tenant, name);
  const auto webhook = co_await std::move(finding);
  if (!webhook) throw Error::not_found("webhook", name);
  co_return http::Response::json(200, to_json(*webhook));
}

Task<http::Response> WebhookHandlers::remove(http::Request& request) {
  auto removing = webhooks_.remove(request.caller.tenant, request.param("name"), actor_of(request));
  co_await std::move(removing);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::api
