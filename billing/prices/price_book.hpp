#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billing/usage/meter_kind.hpp"
#include "gateway/core/decimal.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

enum class PriceKind { cost, charge };  // cost: the vendor's price; charge: the tenant's
std::string_view to_string(PriceKind kind);

// How a sandbox's total quantity of one meter becomes money. The order is: raise to `minimum`,
// round up to a multiple of `rounding`, take off `included`; all three count per sandbox, in the
// meter's unit. A sandbox that used nothing of a meter owes nothing for it.
struct PriceTerms {
  Decimal unit_price;
  std::optional<Decimal> minimum, rounding, included;
};

struct PriceEntry {
  int64_t id = 0;  // row id; 0 until published
  std::string provider;  // "*": any
  std::string deployment, region;  // empty: any
  MeterKind meter = MeterKind::vcpu_second;
  PriceTerms terms;
  std::string source;  // where the number was read and when, or empty
};

// The name of the cost book that comes with Sandgate.
inline constexpr std::string_view kShippedBook = "shipped";

// One immutable version of a price book, in force from `effective_from` until a later version's.
struct PriceVersion {
  int64_t id = 0;
  std::string book;
  int version = 0;
  PriceKind kind = PriceKind::cost;
  std::string tenant;  // charge only; empty: all tenants
  std::string currency;
  Time effective_from;
  Time created_at;
  std::optional<Decimal> markup_percent;  // charge only
  std::vector<PriceEntry> entries;
};

// Reads the body of PUT /v1/prices/{book}. Throws Error(invalid) with every problem's path.
PriceVersion price_version_from(const Json& body, const std::string& book);
Json to_json(const PriceVersion& version);

}  // namespace sandgate
