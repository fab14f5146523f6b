#include "gateway/api/ledger.hpp"

#include "billing/known_tenant.hpp"
#include "billing/ledger/ledger.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/tenant_scope.hpp"
#include "gateway/api/time_range.hpp"

namespace sandgate::api {
namespace {

Json to_json(const LedgerTransfer& transfer) {
  Json entries = Json::array();
  for (const LedgerEntry& entry : transfer.entries)
    entries.push_back({{"account", entry.account},
                       {"debit", entry.debit.to_string()},
                       {"credit", entry.credit.to_string()}});
  Json json{{"id", std::to_string(transfer.id)},
            {"at", to_rfc3339(transfer.at)},
            {"currency", transfer.currency},
            {"reason", transfer.reason},
            {"entries", std::move(entries)}};
  if (transfer.tenant) json["tenant"] = transfer.tenant->value;
  return json;
}

Json to_json(const AccountBalance& balance) {
  return {{"account", balance.account},
          {"currency", balance.currency},
          {"debit", balance.debit.to_string()},
          {"credit", balance.credit.to_string()},
          {"balance", (balance.debit - balance.credit).to_string()}};
}

// The account whose transfers are requested, by its name or, as one of `tenant`, by that name's
// last word.
std::optional<std::string> account_parameter(const http::Query& query,
                                             const std::optional<TenantId>& tenant) {
  const auto wanted = query.find("account");
  if (wanted == "") throw Error::invalid("/account", "must name an account");
  if (wanted != "receivable" && wanted != "credits") return wanted;
  if (!tenant)
    throw Error::invalid("/account", "every tenant has an account of that name: name the tenant");
  return wanted == "credits" ? credits_of(*tenant) : receivable_of(*tenant);
}

}  // namespace

void LedgerHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  using http::Permission;
  routes.add({.method = Method::get,
              .pattern = "/v1/ledger",
              .permission = Permission::read_billing,
              .handler = [this](http::Request& request) { return list(request); }});
  routes.add({.method = Method::get,
              .pattern = "/v1/ledger/balances",
              .permission = Permission::read_billing,
              .handler = [this](http::Request& request) { return balances(request); }});
}

Task<http::Response> LedgerHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1, {"account", "tenant"});
  const TimeRange range = time_range_parameters(request.query);
  const auto tenant = tenant_parameter(request);
  const LedgerQuery query{.tenant = tenant,
                          .account = account_parameter(request.query, tenant),
                          .from = range.from,
                          .to = range.to,
                          .after = page.after.empty() ? 0 : page.integer_after(0),
                          .limit = page.rows_to_fetch()};
  auto work = [query](pqxx::work& tx) {
    if (query.tenant) check_tenant(tx, *query.tenant);
    return read_ledger(tx, query);
  };
  const auto place = usage_.acquire_report_slot(query.tenant);
  co_await usage_.book_ends(query.tenant);
  const auto transfers = co_await usage_.report(query.tenant, std::move(work));
  co_return http::Response::json(
      200,
      page_json(
          page, transfers, [](const LedgerTransfer& transfer) { return to_json(transfer); },
          [](const LedgerTransfer& transfer) { return std::vector{std::to_string(transfer.id)}; }));
}

Task<http::Response> LedgerHandlers::balances(http::Request& request) {
  PageRequest page = read_page(request, 2, {"tenant"});
  const auto tenant = tenant_parameter(request);
  auto work = [tenant](pqxx::work& tx) {
    if (tenant) check_tenant(tx, *tenant);
    return read_balances(tx, tenant);
  };
  const auto place = usage_.acquire_report_slot(tenant);
  co_await usage_.book_ends(tenant);
  auto balances = co_await usage_.report(tenant, std::move(work));
  // All balances together are zero, which a client can check only if no page limit cuts them.
  if (!request.query.find("limit")) page.limit = static_cast<int64_t>(balances.size());
  co_return http::Response::json(
      200, page_of_all(
               page, std::move(balances), [](const AccountBalance& one) { return to_json(one); },
               [](const AccountBalance& one) {
                 return std::vector{one.account, one.currency};
               }));
}

}  // namespace sandgate::api
