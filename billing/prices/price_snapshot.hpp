#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billing/prices/price_book.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// What a price may depend on: the tenant, and where the sandbox runs.
struct PriceScope {
  std::string_view tenant, provider, deployment, region;
  // The deployment is the tenant's own, who pays its vendor: it costs nothing, and is charged only
  // by entries that name the deployment.
  bool own = false;
};

// The entry that applies, and its currency. Points into the snapshot.
struct Price {
  const PriceEntry* entry = nullptr;
  std::string_view currency;
};

// A percentage on the cost, in its currency, where no entry sets the charge. Points into the
// snapshot.
struct Markup {
  const Decimal* percent = nullptr;
  int64_t version_id = 0;
};

// The currency that amounts of several meters are added up in: of the first price above zero, else
// of the first price. Zero is the same in every currency, so a free meter does not decide.
class SumCurrency {
 public:
  void consider(const Decimal& unit_price, std::string_view currency);
  bool is_decided() const { return decided_; }  // by a price above zero
  // Empty when there was no price. Points to what was considered.
  std::optional<std::string_view> get() const { return currency_; }

 private:
  std::optional<std::string_view> currency_;
  bool decided_ = false;
};

// The meters of no hourly quantity, those that every sandbox has first.
inline constexpr std::array kOtherMeterKinds{MeterKind::sandbox_created, MeterKind::egress_gib,
                                             MeterKind::gpu_second};

// The quantities of an hour of running, with active CPU fully busy.
std::array<std::pair<MeterKind, Decimal>, 4> quantities_per_hour(const Resources& resources);

// All price versions at one moment, for lookups without I/O. Immutable, shared between threads.
class PriceSnapshot {
 public:
  PriceSnapshot() = default;
  explicit PriceSnapshot(std::vector<PriceVersion> versions);
  // The versions of an earlier snapshot, which both share, and those published since.
  PriceSnapshot(const PriceSnapshot& before, std::vector<PriceVersion> since);
  PriceSnapshot(const PriceSnapshot&) = delete;
  PriceSnapshot& operator=(const PriceSnapshot&) = delete;

  // The most specific cost entry in force at `at`: deployment before region before provider; among
  // equals the shipped book's last, then that of the latest effective_from, then of the book that
  // sorts first.
  std::optional<Price> cost(const PriceScope& scope, MeterKind meter, Time at) const;
  // The tenant's own books come before those for all tenants, and in each an entry before a markup.
  // At most one member is set; neither means that the charge is the cost.
  struct Charge {
    std::optional<Price> price;
    std::optional<Markup> markup;
  };
  Charge charge(const PriceScope& scope, MeterKind meter, std::string_view cost_currency,
                Time at) const;

  // The cost of an hour of running at `at`, without minimums, rounding and included quantities.
  // Empty when no meter of the backend has a cost price; meters in another currency than that of
  // the sum (see SumCurrency) are left out. (For the charge see rating.hpp.)
  std::optional<Money> cost_per_hour(const PriceScope& scope, const Resources& resources,
                                     Time at) const;

  // The moments strictly between the two at which a version takes effect, ascending.
  std::vector<Time> changes(Time after, Time before) const;
  int64_t generation() const { return generation_; }  // the newest version's id; 0 when empty

 private:
  struct Span {
    Time from, until;  // half open
    bool covers(Time at) const { return from <= at && at < until; }
  };
  // A price entry, or a version's markup when `entry` is null, and when it is in force.
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

  void add(std::vector<PriceVersion> versions);
  void index();

  std::vector<std::shared_ptr<const PriceVersion>> versions_;
  Candidates costs_;
  std::map<std::string, Candidates, std::less<>> charges_;  // by tenant, "" for all
  std::map<std::string, std::vector<Candidate>, std::less<>> markups_;  // likewise
  std::vector<Time> beginnings_;  // sorted
  int64_t generation_ = 0;
};

}  // namespace sandgate
