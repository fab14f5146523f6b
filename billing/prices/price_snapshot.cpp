#include "billing/prices/price_snapshot.hpp"

#include <algorithm>
#include <tuple>

namespace sandgate {
namespace {

constexpr int64_t kHourMicros = 3'600'000'000;

bool applies(const PriceEntry& entry, const PriceScope& scope) {
  return (entry.deployment.empty() ? !scope.own : entry.deployment == scope.deployment) &&
         (entry.region.empty() || entry.region == scope.region);
}

}  // namespace

PriceSnapshot::PriceSnapshot(std::vector<PriceVersion> versions) {
  add(std::move(versions));
  index();
}

PriceSnapshot::PriceSnapshot(const PriceSnapshot& before, std::vector<PriceVersion> since)
    : versions_(before.versions_) {
  add(std::move(since));
  index();
}

void PriceSnapshot::add(std::vector<PriceVersion> versions) {
  for (PriceVersion& version : versions)
    versions_.push_back(std::make_shared<const PriceVersion>(std::move(version)));
}

void PriceSnapshot::index() {
  // Each version ends when a later one of its book begins.
  std::ranges::sort(versions_, std::ranges::greater(), &PriceVersion::version);
  std::map<std::string_view, Time> ends;
  for (const auto& version : versions_) {
    generation_ = std::max(generation_, version->id);
    beginnings_.push_back(version->effective_from);
    Time& end = ends.try_emplace(version->book, Time::max()).first->second;
    const Span span{version->effective_from, end};
    if (span.until <= span.from) continue;
    end = span.from;
    const bool cost = version->kind == PriceKind::cost;
    if (version->markup_percent)
      markups_[version->tenant].push_back({version.get(), nullptr, span});
    Candidates& candidates = cost ? costs_ : charges_[version->tenant];
    for (const PriceEntry& entry : version->entries)
      candidates[entry.provider][static_cast<size_t>(entry.meter)].push_back(
          {version.get(), &entry, span});
  }
  std::sort(beginnings_.begin(), beginnings_.end());
}

bool PriceSnapshot::Candidate::beats(const Candidate& other) const {
  const auto rank = [](const Candidate& c) {
    const bool entry = c.entry != nullptr;
    return std::tuple(entry && !c.entry->deployment.empty(), entry && !c.entry->region.empty(),
                      entry && c.entry->provider != "*", c.version->book != kShippedBook,
                      c.span.from);
  };
  const auto mine = rank(*this), theirs = rank(other);
  return mine != theirs ? mine > theirs : version->book < other.version->book;
}

const PriceSnapshot::Candidate* PriceSnapshot::best(const Candidates& candidates,
                                                    const PriceScope& scope, MeterKind meter,
                                                    Time at) {
  const Candidate* found = nullptr;
  for (const std::string_view provider : {scope.provider, std::string_view("*")}) {
    const auto of_provider = candidates.find(provider);
    if (of_provider == candidates.end()) continue;
    for (const Candidate& candidate : of_provider->second[static_cast<size_t>(meter)])
      if (candidate.span.covers(at) && applies(*candidate.entry, scope) &&
          (!found || candidate.beats(*found)))
        found = &candidate;
  }
  return found;
}

std::optional<Price> PriceSnapshot::cost(const PriceScope& scope, MeterKind meter, Time at) const {
  const Candidate* found = scope.own ? nullptr : best(costs_, scope, meter, at);
  if (!found) return std::nullopt;
  return Price{found->entry, found->version->currency};
}

const PriceSnapshot::Candidate* PriceSnapshot::best_markup(std::string_view tenant,
                                                           std::string_view currency,
                                                           Time at) const {
  const Candidate* found = nullptr;
  const auto list = markups_.find(tenant);
  if (list == markups_.end()) return nullptr;
  for (const Candidate& candidate : list->second)
    if (candidate.span.covers(at) && candidate.version->currency == currency &&
        (!found || candidate.beats(*found)))
      found = &candidate;
  return found;
}

PriceSnapshot::Charge PriceSnapshot::charge(const PriceScope& scope, MeterKind meter,
                                            std::string_view cost_currency, Time at) const {
  for (const std::string_view tenant : {scope.tenant, std::string_view()}) {
    if (const auto entries = charges_.find(tenant); entries != charges_.end())
      if (const Candidate* found = best(entries->second, scope, meter, at))
        return {.price = Price{found->entry, found->version->currency}};
    if (scope.own) continue;
    if (const Candidate* found = best_markup(tenant, cost_currency, at))
      return {.markup = Markup{&*found->version->markup_percent, found->version->id}};
  }
  return {};
}

std::vector<Time> PriceSnapshot::changes(Time after, Time before) const {
  std::vector<Time> moments;
  for (auto at = std::upper_bound(beginnings_.begin(), beginnings_.end(), after);
       at != beginnings_.end() && *at < before; ++at)
    if (moments.empty() || moments.back() != *at) moments.push_back(*at);
  return moments;
}

std::array<std::pair<MeterKind, Decimal>, 4> quantities_per_hour(const Resources& resources) {
  const Decimal vcpu = vcpu_seconds(resources.milli_vcpu, kHourMicros);
  return {{{MeterKind::vcpu_second, vcpu},
           {MeterKind::active_cpu_second, vcpu},
           {MeterKind::memory_gib_second, memory_gib_seconds(resources.memory_mib, kHourMicros)},
           {MeterKind::disk_gib_second, disk_gib_seconds(resources.disk_gib, kHourMicros)}}};
}

std::optional<Money> PriceSnapshot::cost_per_hour(const PriceScope& scope,
                                                  const Resources& resources, Time at) const {
  SumCurrency currency;
  std::vector<std::pair<Price, Decimal>> used;
  for (const auto& [meter, quantity] : quantities_per_hour(resources))
    if (const auto price = cost(scope, meter, at)) {
      currency.consider(price->entry->terms.unit_price, price->currency);
      used.emplace_back(*price, quantity);
    }
  for (size_t i = 0; !currency.is_decided() && i < kOtherMeterKinds.size(); ++i)
    if (const auto price = cost(scope, kOtherMeterKinds[i], at))
      currency.consider(price->entry->terms.unit_price, price->currency);
  if (!currency.get()) return std::nullopt;
  Money total{Decimal(), std::string(*currency.get())};
  for (const auto& [price, quantity] : used)
    if (price.currency == total.currency) total.amount += price.entry->terms.unit_price * quantity;
  return total;
}

void SumCurrency::consider(const Decimal& unit_price, std::string_view currency) {
  if (decided_) return;
  decided_ = !unit_price.is_zero();
  if (decided_ || !currency_) currency_ = currency;
}

}  // namespace sandgate
