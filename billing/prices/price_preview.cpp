#include "billing/prices/price_preview.hpp"

#include <map>
#include <tuple>

#include "billing/prices/price_rows.hpp"
#include "billing/prices/rating.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kPreviewTimeout{2};
constexpr size_t kMaxEvents = 1'000'000;
constexpr size_t kPage = 5'000;

struct Sums {
  Decimal quantity, booked_cost, booked_charge, cost, charge;

  Json json() const {
    return {{"booked", {{"cost", booked_cost.to_string()}, {"charge", booked_charge.to_string()}}},
            {"preview", {{"cost", cost.to_string()}, {"charge", charge.to_string()}}},
            {"difference",
             {{"cost", (cost - booked_cost).to_string()},
              {"charge", (charge - booked_charge).to_string()}}}};
  }
};

// Tenant, deployment, meter, currency of the charge, currency of the cost.
using Group = std::tuple<std::string, std::string, std::string, std::string, std::string>;
using Groups = std::map<Group, Sums>;

// The prices with the draft in place.
PriceSnapshot hypothetical(pqxx::work& tx, const PricePreview& wanted) {
  auto versions = read_price_versions(tx);
  PriceVersion draft = wanted.draft;
  draft.effective_from = wanted.from;
  draft.version = 1;
  for (const PriceVersion& version : versions) {
    draft.id = std::max(draft.id, version.id + 1);
    if (version.book == draft.book) draft.version = std::max(draft.version, version.version + 1);
  }
  // The draft takes the place of the book's versions from that time on.
  std::erase_if(versions, [&](const PriceVersion& version) {
    return version.book == draft.book && version.effective_from >= wanted.from;
  });
  versions.push_back(std::move(draft));
  return PriceSnapshot(std::move(versions));
}

void add_event(Groups& groups, const pqxx::row& row, const PriceSnapshot& prices) {
  const auto text = [&](const char* name) { return row[name].as<std::string>(); };
  const auto number = [&](const char* name) { return Decimal::from_sql(row[name].c_str()); };
  const std::string tenant = text("tenant"), provider = text("provider"),
                    deployment = text("deployment"), region = text("region");
  const auto meter = meter_kind_from(text("meter")).value();
  const Rated rated = rate(prices, {tenant, provider, deployment, region, row["own"].as<bool>()},
                           meter, from_micros(row["start_micros"].as<int64_t>()),
                           number("quantity_before"), number("quantity"));
  const auto sums_of = [&](const std::string& charge_currency,
                           const std::string& cost_currency) -> Sums& {
    return groups[{tenant, deployment, text("meter"), charge_currency, cost_currency}];
  };
  Sums& booked = sums_of(text("charge_currency"), text("cost_currency"));
  booked.quantity += number("quantity");
  booked.booked_cost += number("cost");
  booked.booked_charge += number("charge");
  Sums& preview = sums_of(rated.charge.currency, rated.cost.currency);
  preview.cost += rated.cost.amount;
  preview.charge += rated.charge.amount;
}

size_t add_events(pqxx::work& tx, const PricePreview& wanted, Groups& groups) {
  const PriceSnapshot prices = hypothetical(tx, wanted);
  std::string after = to_rfc3339(wanted.from), id = "00000000-0000-0000-0000-000000000000";
  for (size_t count = 0;;) {
    const auto rows = tx.exec_params(
        "SELECT id, interval_start, (extract(epoch FROM interval_start) * 1000000)::bigint"
        " AS start_micros, tenant, provider, deployment, region, meter, quantity, quantity_before,"
        " cost, cost_currency, charge, charge_currency,"
        " coalesce((SELECT own FROM metered_sandbox m WHERE m.sandbox = e.sandbox), false) AS own"
        " FROM usage_event e"
        " WHERE (interval_start, id) > ($1::timestamptz, $2::uuid)"
        " AND interval_start < $3::timestamptz ORDER BY interval_start, id LIMIT $4",
        after, id, to_rfc3339(wanted.to), kPage);
    for (const auto& row : rows) add_event(groups, row, prices);
    count += static_cast<size_t>(rows.size());
    if (count > kMaxEvents)
      throw Error(ErrorCode::too_large, "more than a million events: ask for a shorter time");
    if (static_cast<size_t>(rows.size()) < kPage) return count;
    after = to_rfc3339(from_micros(rows.back()["start_micros"].as<int64_t>()));
    id = rows.back()["id"].as<std::string>();
  }
}

Json to_json(const PricePreview& wanted, size_t events, const Groups& groups) {
  Json items = Json::array(), total = Json::array();
  std::map<std::pair<std::string, std::string>, Sums> totals;
  for (const auto& [group, sums] : groups) {
    const auto& [tenant, deployment, meter, currency, cost_currency] = group;
    Json item = sums.json();
    item.update({{"tenant", tenant},
                 {"deployment", deployment},
                 {"meter", meter},
                 {"quantity", sums.quantity.to_string()},
                 {"currency", currency},
                 {"cost_currency", cost_currency}});
    items.push_back(std::move(item));
    Sums& all = totals[{currency, cost_currency}];
    all.booked_cost += sums.booked_cost;
    all.booked_charge += sums.booked_charge;
    all.cost += sums.cost;
    all.charge += sums.charge;
  }
  for (const auto& [currencies, sums] : totals) {
    Json item = sums.json();
    item.update({{"currency", currencies.first}, {"cost_currency", currencies.second}});
    total.push_back(std::move(item));
  }
  return {{"book", wanted.draft.book},   {"from", to_rfc3339(wanted.from)},
          {"to", to_rfc3339(wanted.to)}, {"events", events},
          {"items", std::move(items)},   {"total", std::move(total)}};
}

}  // namespace

Task<Json> preview_prices(Database& database, PricePreview wanted) {
  auto work = [wanted](pqxx::work& tx) {
    Groups groups;
    const size_t events = add_events(tx, wanted, groups);
    return to_json(wanted, events, groups);
  };
  co_return co_await database.report(kPreviewTimeout, std::move(work));
}

}  // namespace sandgate
