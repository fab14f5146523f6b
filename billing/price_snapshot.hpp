#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billing/price_book.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// Where something runs and for whom: what a price may depend on.
struct PriceScope {
  std::string_view tenant, provider, deployment, region;
  // A deployment of the tenant's own, whose vendor it pays itself: costs nothing, and is charged
  // only by entries that name the deployment.
  bool own = false;
};

// One price that applies, and where it is written.
struct Price {
  const PriceEntry* entry = nullptr;
  std::string_view currency;
};

// How a tenant's charge follows from the cost, when no entry says it. In the cost's currency.
struct Markup {
  const Decimal* percent = nullptr;
  int64_t version_id = 0;
};

// What each meter of a running sandbox counts in an hour, active CPU as if it were fully busy.
std::array<std::pair<MeterKind, Decimal>, 4> quantities_per_hour(const Resources& resources);

// All price versions at one moment; immutable, shared between threads, asked without I/O.
class PriceSnapshot {
 public:
  PriceSnapshot() = default;
  explicit PriceSnapshot(std::vector<PriceVersion> versions);
  PriceSnapshot(const PriceSnapshot&) = delete;
  PriceSnapshot& operator=(const PriceSnapshot&) = delete;

  // The most specific entry in force at `at`: deployment before region before provider; between
  // equals the one in force for a shorter time, then the book that sorts first.
  std::optional<Price> cost(const PriceScope& scope, MeterKind meter, Time at) const;
  // A tenant's own book before the books for all; within each, an entry before a markup. Exactly
  // one of the two is set, or none when no charge book applies (the charge is then the cost).
  struct Charge {
    std::optional<Price> price;
    std::optional<Markup> markup;
  };
  Charge charge(const PriceScope& scope, MeterKind meter, std::string_view cost_currency,
                Time at) const;

  // What an hour of running costs at `at`; minimums and included quantities are left out. Empty
  // when no cost price of that backend is known at all. (The charge per hour is in rating.)
  std::optional<Decimal> cost_per_hour(const PriceScope& scope, const Resources& resources,
                                       Time at) const;

  // Moments strictly between the two when some price begins, ascending.
  std::vector<Time> changes(Time after, Time before) const;
  int64_t generation() const { return generation_; }  // the newest version's id; 0 when empty

 private:
  struct Span {
    Time from, until;  // half open
    bool covers(Time at) const { return from <= at && at < until; }
  };
  // A price, or a version's markup when `entry` is null, with the span it is in force.
  struct Candidate {
    const PriceVersion* version;
    const PriceEntry* entry;
    Span span;
    bool beats(const Candidate& other) const;
  };
  // By provider, then by meter.
  using Candidates =
      std::map<std::string, std::array<std::vector<Candidate>, kMeterKinds.size()>, std::less<>>;

  static const Candidate* best(const Candidates& candidates, const PriceScope& scope,
                               MeterKind meter, Time at);
  const Candidate* best_markup(std::string_view tenant, std::string_view currency, Time at) const;

  std::vector<PriceVersion> versions_;
  Candidates costs_;
  std::map<std::string, Candidates, std::less<>> charges_;  // by tenant, "" for all
  std::map<std::string, std::vector<Candidate>, std::less<>> markups_;  // likewise
  std::vector<Time> beginnings_;  // sorted
  int64_t generation_ = 0;
};

}  // namespace sandgate
