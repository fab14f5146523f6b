#include "gateway/api/invoices.hpp"

#include "billing/currency.hpp"
#include "billing/invoices/invoice_page.hpp"
#include "gateway/api/audit.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/tenant_scope.hpp"
#include "gateway/api/time_range.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/moment.hpp"
#include "registry/idempotency_effect.hpp"

namespace sandgate::api {
namespace {

// {tenant, period} or {tenant, from, to}; `tenant` is optional for a tenant's own key.
Invoices::Order order_from(const http::Request& request) {
  Problems problems;
  const Json body = request.json();
  ObjectReader reader(body, problems);
  Invoices::Order order;
  const auto& own = request.caller.tenant;
  const auto tenant = reader.text("tenant", {.max = 64});
  if (!tenant && !own) reader.require("tenant");
  const auto id = tenant ? TenantId::parse(*tenant) : own;
  if (tenant && !id) reader.problem("tenant", "is not a tenant's id");
  order.currency = reader.text("currency", {.max = 8});
  if (order.currency && !minor_digits(*order.currency))
    reader.problem("currency", kUnknownCurrency);
  const TimeRange range = time_range_members(reader);
  if (const auto period = reader.text("period", {.max = 16})) {
    const auto month = month_from(*period);
    if (!month) reader.problem("period", kMonthRule);
    if (reader.has("from") || reader.has("to"))
      reader.problem("period", "must be given without from and to");
    if (month) std::tie(order.from, order.to) = *month;
    order.timezone = reader.text("timezone", {.min = 1, .max = 64});
  } else {
    reader.require("from");
    reader.require("to");
    if (reader.has("timezone")) reader.problem("timezone", "is allowed only with period");
    order.from = range.from.value_or(Time());
    order.to = range.to.value_or(Time());
  }
  reader.finish();
  problems.throw_if_any();
  if (own && *id != *own) throw Error::not_found("tenant", id->value);
  order.tenant = *id;
  return order;
}

struct CreditOrder {
  Decimal amount;
  std::string reason;
};

CreditOrder credit_order_from(const Json& body) {
  DocumentReader reader(body);
  for (const std::string_view name : {"amount", "reason"}) reader.require(name);
  const auto text = reader.text("amount", {.min = 1, .max = 64});
  const auto amount = text ? Decimal::parse(*text) : std::nullopt;
  if (text && !amount) reader.problem("amount", "must be a decimal as a string, such as \"12.5\"");
  CreditOrder order{.reason = reader.text("reason", {.min = 1, .max = 500}).value_or("")};
  if (amount) order.amount = *amount;
  reader.finish_or_throw();
  return order;
}

InvoiceId id_from(std::string_view text) {
  const auto id = InvoiceId::parse(text);
  if (!id) throw Error::not_found("invoice", text);
  return *id;
}

// Removes a known file extension from an id and returns it; empty if there is none.
std::string take_ending(std::string& id) {
  for (const std::string_view ending : {".csv", ".html"})
    if (id.ends_with(ending)) {
      id.resize(id.size() - ending.size());
      return std::string(ending);
    }
  return "";
}

Json summary(const Invoice& invoice) {
  Json json = to_json(invoice);
  json.erase("lines");
  return json;
}

}  // namespace

void InvoiceHandlers::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using http::Permission;
  routes.add({.method = Method::post,
              .pattern = "/v1/invoices",
              .permission = Permission::write_billing,
              .body = BodyMode::buffered,
              .handler = [this](http::Request& request) { return create(request); },
              .idempotent_create = true,
              .location_prefix = "/v1/invoices/"});
  routes.add({.method = Method::get,
              .pattern = "/v1/invoices",
              .permission = Permission::read_billing,
              .handler = [this](http::Request& request) { return list(request); }});
  routes.add({.method = Method::get,
              .pattern = "/v1/invoices/{id}",
              .permission = Permission::read_billing,
              .handler = [this](http::Request& request) { return get(request); }});
  routes.add({.method = Method::post,
              .pattern = "/v1/invoices/{id}/issue",
              .permission = Permission::operate,
              .body = BodyMode::buffered,
              .handler = [this](http::Request& request) { return issue(request); }});
  routes.add({.method = Method::post,
              .pattern = "/v1/invoices/{id}/credit-notes",
              .permission = Permission::operate,
              .body = BodyMode::buffered,
              .handler = [this](http::Request& request) { return credit(request); },
              .idempotent_create = true,
              .location_prefix = "/v1/invoices/"});
}

Task<http::Response> InvoiceHandlers::create(http::Request& request) {
  const Invoices::Order order = order_from(request);
  const auto place = usage_.acquire_report_slot(order.tenant);
  co_await usage_.refresh(order.tenant);
  auto taking = usage_.acquire_connection(order.tenant);
  const auto turn = co_await std::move(taking);
  // A repeat after a crash is refused and told of this draft.
  const ChangeTrail trail = [claim = request.claim](pqxx::work& tx, const Json&, const Json& made) {
    mark_effect(tx, claim, made.at("id").get<std::string>());
  };
  const Invoice invoice = co_await invoices_.draft(order, trail);
  co_return http::Response::json(201, to_json(invoice));
}

Task<http::Response> InvoiceHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2, {"tenant"});
  const auto tenant = tenant_parameter(request);
  std::optional<InvoiceCursor> after;
  if (const auto seen = page.created_after()) after = {seen->first, id_from(seen->second)};
  const auto invoices = co_await invoices_.list(tenant, after, page.rows_to_fetch());
  co_return http::Response::json(200, page_json(page, invoices, summary, creation_key<Invoice>));
}

Task<http::Response> InvoiceHandlers::get(http::Request& request) {
  std::string id = request.param("id");
  const std::string ending = take_ending(id);
  const InvoiceId wanted = id_from(id);
  const Invoice invoice = co_await own(request, wanted);
  http::Response response = http::Response::json(200, to_json(invoice));
  if (ending == ".csv") {
    response.content_type = "text/csv; charset=utf-8";
    response.body = to_csv(invoice);
  } else if (ending == ".html") {
    response.content_type = "text/html; charset=utf-8";
    response.headers.emplace_back("Content-Security-Policy",
                                  "default-src 'none'; style-src 'unsafe-inline'");
    response.body = to_html(invoice, issuer_);
  }
  co_return response;
}

Task<Invoice> InvoiceHandlers::own(const http::Request& request, InvoiceId id) {
  Invoice invoice = co_await invoices_.get(id);
  if (request.caller.tenant && *request.caller.tenant != invoice.tenant)
    throw Error::not_found("invoice", id.value);
  co_return invoice;
}

Task<http::Response> InvoiceHandlers::credit(http::Request& request) {
  const InvoiceId id = id_from(request.param("id"));
  const CreditOrder order = credit_order_from(request.json());
  const Invoice known = co_await own(request, id);
  const ChangeTrail trail = trail_of(request, known.tenant, "invoice.credit", id.value);
  const Invoice invoice = co_await invoices_.credit(id, order.amount, order.reason, trail);
  co_return http::Response::json(201, to_json(invoice));
}

Task<http::Response> InvoiceHandlers::issue(http::Request& request) {
  const InvoiceId id = id_from(request.param("id"));
  // There is nothing to ask for, and who asks all the same must not be given an issued invoice.
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  reader.finish_or_throw();
  const Invoice draft = co_await own(request, id);
  co_await usage_.refresh(draft.tenant);
  const ChangeTrail trail = trail_of(request, draft.tenant, "invoice.issue", id.value);
  const Invoice invoice = co_await invoices_.issue(id, trail);
  co_return http::Response::json(200, to_json(invoice));
}

}  // namespace sandgate::api
