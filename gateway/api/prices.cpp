#include "gateway/api/prices.hpp"

#include "billing/invoice.hpp"
#include "billing/price_preview.hpp"
#include "billing/shipped_prices.hpp"
#include "gateway/api/audit.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/span.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxBookBytes = 8 << 20;

// Names are part of a URL.
bool is_book_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

void check_book_name(const std::string& book) {
  if (!is_book_name(book))
    throw Error::invalid("", "a book's name has 1 to 63 characters of a-z, 0-9, '-', '_', '.'");
}

// ?period=2026-10, or ?from and ?to; else the last whole month (UTC).
std::pair<Time, Time> span_of_preview(const http::Query& query, Time now) {
  if (const auto period = query.find("period")) {
    const auto month = month_from(*period);
    if (!month) throw Error::invalid("?period", "must be a month, such as \"2026-10\"");
    return *month;
  }
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(now));
  const auto first = day.year() / day.month() / 1;
  const Time last_month = Time(std::chrono::sys_days(first - std::chrono::months(1)));
  const Time from = time_parameter(query, "from").value_or(last_month);
  const Time to = time_parameter(query, "to").value_or(Time(std::chrono::sys_days(first)));
  if (to <= from) throw Error::invalid("?to", "must be after from");
  return {from, to};
}

bool may_see(const http::Caller& caller, const PriceVersion& version) {
  return version.tenant.empty() || !caller.tenant || caller.tenant->value == version.tenant;
}

}  // namespace

void PriceHandlers::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using http::Permission;
  routes.add({Method::get, "/v1/prices", Permission::read_billing, BodyMode::none,
              [this](http::Request& request) { return list(request); }});
  routes.add({Method::get, "/v1/prices/{book}", Permission::read_billing, BodyMode::none,
              [this](http::Request& request) { return get(request); }});
  routes.add({Method::put, "/v1/prices/{book}", Permission::operate, BodyMode::buffered,
              [this](http::Request& request) { return publish(request); }, kMaxBookBytes});
  routes.add({Method::post, "/v1/prices/{book}/preview", Permission::operate, BodyMode::buffered,
              [this](http::Request& request) { return preview(request); }, kMaxBookBytes});
}

Task<http::Response> PriceHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request.query, 1);
  const auto versions = co_await books_.list();
  std::vector<PriceVersion> newest;
  for (size_t i = 0; i < versions.size(); ++i) {
    const bool last = i + 1 == versions.size() || versions[i + 1].book != versions[i].book;
    if (last && may_see(request.caller, versions[i]) &&
        (page.after.empty() || versions[i].book > page.after[0]))
      newest.push_back(versions[i]);
  }
  co_return http::Response::json(
      200, page_json(
               page, newest, [](const PriceVersion& version) { return to_json(version); },
               [](const PriceVersion& version) { return std::vector{version.book}; }));
}

Task<http::Response> PriceHandlers::get(http::Request& request) {
  const PageRequest page = read_page(request.query, 1);
  const std::string& book = request.param("book");
  auto versions = co_await books_.get(book);
  if (!may_see(request.caller, versions.front())) throw Error::not_found("price book", book);
  if (!page.after.empty()) {
    const int64_t seen = page.integer_after(0);
    std::erase_if(versions, [&](const PriceVersion& version) { return version.version <= seen; });
  }
  co_return http::Response::json(
      200, page_json(
               page, versions, [](const PriceVersion& version) { return to_json(version); },
               [](const PriceVersion& version) {
                 return std::vector{std::to_string(version.version)};
               }));
}

Task<http::Response> PriceHandlers::publish(http::Request& request) {
  const std::string& book = request.param("book");
  check_book_name(book);
  if (book == kShippedBook)
    throw Error(ErrorCode::conflict,
                "the shipped book comes with Sandgate: publish another, which goes before it");
  const PriceVersion draft = price_version_from(request.json(), book);
  const auto tenant = TenantId::parse(draft.tenant);
  const ChangeTrail trail = trail_of(request, tenant, "prices.publish", book);
  const PriceVersion stored = co_await books_.publish(draft, trail);
  co_return http::Response::json(200, to_json(stored));
}

Task<http::Response> PriceHandlers::preview(http::Request& request) {
  const std::string& book = request.param("book");
  check_book_name(book);
  PricePreview wanted{.draft = price_version_from(request.json(), book)};
  std::tie(wanted.from, wanted.to) = span_of_preview(request.query, SystemClock().now());
  const Json answer = co_await preview_prices(database_, wanted);
  co_return http::Response::json(200, answer);
}

}  // namespace sandgate::api
