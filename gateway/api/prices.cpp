#include "gateway/api/prices.hpp"

#include <algorithm>
#include <span>

#include "billing/prices/price_preview.hpp"
#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/time_range.hpp"
#include "gateway/core/moment.hpp"
#include "gateway/http/table_body.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxBookBytes = 8 << 20;

// The version in the body, of the book that the address names.
PriceVersion draft_in(const http::Request& request) {
  const std::string& book = request.param("book");
  check_name(book, "a book");
  PriceVersion draft = price_version_from(http::table_in(request), book);
  // What no deployment can be called would price nothing, and nobody would notice.
  Problems problems;
  for (size_t i = 0; i < draft.entries.size(); ++i) {
    const PriceEntry& entry = draft.entries[i];
    const std::string path = "/entries/" + std::to_string(i);
    if (entry.provider != "*" && !is_name(entry.provider))
      problems.add(path + "/provider", "is neither a provider's name nor \"*\"");
    if (!entry.deployment.empty() && !is_name(entry.deployment))
      problems.add(path + "/deployment", "is not a deployment's name");
  }
  problems.throw_if_any();
  return draft;
}

// ?period=2026-10, or ?from and ?to; default: the last complete month (UTC).
std::pair<Time, Time> span_of_preview(const http::Query& query, Time now) {
  const TimeRange asked = time_range_parameters(query);
  if (const auto period = query.find("period")) {
    if (asked.from || asked.to)
      throw Error::invalid("/period", "must be given without from and to");
    const auto month = month_from(*period);
    if (!month) throw Error::invalid("/period", kMonthRule);
    return *month;
  }
  if (asked.from || asked.to) return resolve_time_range(asked, now);
  return resolve_time_range({.to = month_of_end(now + std::chrono::microseconds(1))}, now);
}

// Of each book the version in force and the future ones. `versions` must be sorted by book and
// version.
std::vector<PriceVersion> listed(const std::vector<PriceVersion>& versions, Time now) {
  std::vector<PriceVersion> all;
  size_t first = 0;  // of the version's book
  for (const PriceVersion& version : versions) {
    if (first < all.size() && all[first].book != version.book) first = all.size();
    // A later version replaces earlier ones from its start on, so those that start later are void.
    const std::span book(all.begin() + static_cast<ptrdiff_t>(first), all.end());
    const auto replaced = std::ranges::remove_if(book, [&](const PriceVersion& earlier) {
      return version.effective_from <= std::max(earlier.effective_from, now);
    });
    all.resize(all.size() - replaced.size());
    all.push_back(version);
  }
  return all;
}

// What is read with its entries for a page.
std::vector<PriceVersion> first_of(std::vector<PriceVersion> versions, const PageRequest& page) {
  const auto most = static_cast<size_t>(page.rows_to_fetch());
  if (versions.size() > most)
    versions.erase(versions.begin() + page.rows_to_fetch(), versions.end());
  return versions;
}

// Whether a later version starts before it, so that it never comes into force.
bool is_superseded(const PriceVersion& version, const std::vector<PriceVersion>& all) {
  return std::ranges::any_of(all, [&](const PriceVersion& later) {
    return later.version > version.version && later.effective_from <= version.effective_from;
  });
}

bool may_see(const http::Caller& caller, const PriceVersion& version) {
  return version.tenant.empty() || !caller.tenant || caller.tenant->value == version.tenant;
}

}  // namespace

void PriceHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::read_billing, http::Permission::operate,
                    kMaxBookBytes);
  named.add(Method::get, "/v1/prices", &PriceHandlers::list);
  named.add(Method::put, "/v1/prices/{book}", &PriceHandlers::publish);
  named.add(Method::get, "/v1/prices/{book}", &PriceHandlers::get);
  named.add(Method::post, "/v1/prices/{book}/preview", &PriceHandlers::preview);
}

Task<http::Response> PriceHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2);
  const Time now = clock_.now();
  const auto versions = co_await books_.list();
  auto shown = listed(versions, now);
  const std::pair seen(page.after.empty() ? "" : page.after[0],
                       page.after.empty() ? 0 : page.integer_after(1));
  std::erase_if(shown, [&](const PriceVersion& one) {
    return !may_see(request.caller, one) || std::pair(one.book, int64_t{one.version}) <= seen;
  });
  auto reading = books_.with_entries(first_of(shown, page));
  const auto rows = co_await std::move(reading);
  const auto render = [now](const PriceVersion& one) {
    Json json = to_json(one);
    json["in_force"] = one.effective_from <= now;
    return json;
  };
  const auto place = [](const PriceVersion& one) {
    return std::vector{one.book, std::to_string(one.version)};
  };
  co_return http::Response::json(200, page_json(page, rows, render, place));
}

Task<http::Response> PriceHandlers::get(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  const std::string& book = request.param("book");
  const auto all = co_await books_.get(book);
  if (!may_see(request.caller, all.front())) throw Error::not_found("price book", book);
  auto versions = all;
  if (!page.after.empty()) {
    const int64_t seen = page.integer_after(0);
    std::erase_if(versions, [&](const PriceVersion& version) { return version.version <= seen; });
  }
  auto reading = books_.with_entries(first_of(versions, page));
  const auto rows = co_await std::move(reading);
  const auto render = [&](const PriceVersion& version) {
    Json json = to_json(version);
    if (is_superseded(version, all)) json["superseded"] = true;
    return json;
  };
  const auto place = [](const PriceVersion& version) {
    return std::vector{std::to_string(version.version)};
  };
  co_return http::Response::json(200, page_json(page, rows, render, place));
}

Task<http::Response> PriceHandlers::publish(http::Request& request) {
  const std::string& book = request.param("book");
  if (book == kShippedBook)
    throw Error(
        ErrorCode::conflict,
        "the shipped book comes with Sandgate: publish another, which takes precedence over it");
  const PriceVersion draft = draft_in(request);
  const auto tenant = TenantId::parse(draft.tenant);
  const ChangeTrail trail = trail_of(request, tenant, "prices.publish", book);
  const PriceVersion stored = co_await books_.publish(draft, trail);
  co_return http::Response::json(200, to_json(stored));
}

Task<http::Response> PriceHandlers::preview(http::Request& request) {
  PricePreview wanted{.draft = draft_in(request)};
  std::tie(wanted.from, wanted.to) = span_of_preview(request.query, clock_.now());
  co_await usage_.book_ends(std::nullopt);
  const Json answer = co_await preview_prices(database_, wanted);
  co_return http::Response::json(200, answer);
}

}  // namespace sandgate::api
